import { Observable, type Observer, type Operator, type Subscription } from 'rxjs';

type Observing<T> = Partial<Observer<T>> | ((value: T) => void) | null;

/**
 * An observable whose subscribers cannot end the process. What a subscriber throws, or an operator while nobody handles
 * errors, rxjs throws again where nothing can catch it; here it is reported, as is the rejection of an asynchronous
 * subscriber. That holds for all that is piped from it, but not for what it is joined with (`merge`, `combineLatest`):
 * those make observables of their own.
 */
export class GuardedObservable<T> extends Observable<T> {
  readonly #report: (error: unknown) => void;

  constructor(source: Observable<T>, report: (error: unknown) => void) {
    super((subscriber) => source.subscribe(subscriber));
    this.#report = report;
  }

  override subscribe(
    given?: Observing<T>,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // A subscriber of rxjs's own, or a subject, passes on what it gets, and must keep its identity to be unsubscribed.
    if (given && 'unsubscribe' in given) return super.subscribe(given);
    const observer = typeof given === 'object' && given ? given : { next: given, error, complete };
    return super.subscribe({
      next: this.#guarded((value) => observer.next?.(value)),
      error: this.#guarded((failure) => (observer.error ?? this.#report).call(observer, failure)),
      complete: this.#guarded(() => observer.complete?.()),
    });
  }

  /** What every operator of rxjs 7 is applied by. */
  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    return new GuardedObservable(super.lift(operator), this.#report);
  }

  #guarded<A extends readonly unknown[]>(listener: (...args: A) => unknown): (...args: A) => void {
    return (...args) => {
      // Called at once; whether it throws or is asynchronous, its failure is a rejection.
      (async () => listener(...args))().catch(this.#report);
    };
  }
}
