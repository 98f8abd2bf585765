import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Observable, Subject } from 'rxjs';
import { describeError } from '../core/show.ts';
import type { StoreEvent, StoreWarningEvent } from '../core/store-event.ts';
import type { StoreHealth } from '../core/store-health.ts';
import { GuardedObservable } from './guarded-observable.ts';

const logger = new Logger('RateLimit');

/** Passes the events of the store on, from before the first subscriber until the application has closed. */
@Injectable()
export class StoreEventStream implements OnApplicationShutdown {
  readonly #events = new Subject<StoreEvent>();
  /** The store tells each mistake once, so there are few. */
  readonly #warnings: StoreWarningEvent[] = [];

  tell(event: StoreEvent): void {
    if (event.type === 'warning') this.#warnings.push(event);
    this.#events.next(event);
  }

  /** The events from now on, behind what stands: warnings, and the outage by this health if there is one. */
  from(health: () => StoreHealth): Observable<StoreEvent> {
    const events = new Observable<StoreEvent>((subscriber) => {
      for (const warning of this.#warnings) subscriber.next(warning);
      const { state, lastError } = health();
      if (state === 'unavailable' && lastError) subscriber.next({ type: 'unavailable', error: lastError });
      return this.#events.subscribe(subscriber);
    });
    return new GuardedObservable(events, tellFailedSubscriber);
  }

  onApplicationShutdown(): void {
    this.#events.complete();
  }
}

const tellFailedSubscriber = (error: unknown): void =>
  logger.error(`A subscriber of RateLimiter.storeEvents$ failed: ${describeError(error)}`);
