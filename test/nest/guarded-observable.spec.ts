import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  config,
  filter,
  firstValueFrom,
  map,
  NEVER,
  share,
  startWith,
  Subject,
  switchMap,
  toArray,
  type Observable,
} from 'rxjs';
import { GuardedObservable } from '../../src/nest/guarded-observable.ts';
import { RateLimiter } from '../../src/nest/rate-limiter.ts';
import { FailingStore } from '../support/failing-store.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const raise = (): never => {
  throw new Error('the subscriber failed');
};
const raiseLater = (): unknown => Promise.reject(new Error('the subscriber failed'));

describe('an observable whose subscribers are guarded', () => {
  const unhandled = jest.fn();
  const reported = jest.fn();
  let source: Subject<number>;
  let guarded: GuardedObservable<number>;

  beforeEach(() => {
    source = new Subject();
    guarded = new GuardedObservable(source, reported);
    // Where rxjs would otherwise throw what nothing can catch.
    config.onUnhandledError = unhandled;
  });
  afterEach(() => {
    config.onUnhandledError = null;
    jest.clearAllMocks();
  });

  const failures: [string, () => void][] = [
    ['a function that throws', () => guarded.subscribe(raise)],
    ['a function that rejects', () => guarded.subscribe(raiseLater)],
    ['an observer that throws', () => guarded.subscribe({ next: raise })],
    ['a function behind an operator', () => guarded.pipe(filter(() => true)).subscribe(raise)],
    ['a function behind several operators', () => guarded.pipe(startWith(0), map(String), share()).subscribe(raise)],
    ['an operator that throws', () => guarded.pipe(map(raise)).subscribe()],
    ['an error handler that throws', () => guarded.pipe(map(raise)).subscribe({ error: raise })],
  ];

  it.each(failures)('reports the failure of %s, and nothing ends the process', async (_, subscribe) => {
    subscribe();
    source.next(1);
    await settled();
    // rxjs throws in a timer.
    await new Promise((resolve) => setTimeout(resolve, 0));

    expect(reported).toHaveBeenCalledWith(expect.objectContaining({ message: 'the subscriber failed' }));
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('tells the others all the same, and tells the one that failed the next time', () => {
    const told: number[] = [];
    const failing = jest.fn(raise);
    guarded.subscribe(failing);
    guarded.subscribe((value) => told.push(value));
    source.next(1);
    source.next(2);

    expect(told).toEqual([1, 2]);
    expect(failing).toHaveBeenCalledTimes(2);
  });

  it('gives errors to those who handle them', async () => {
    const handled = jest.fn();
    guarded.pipe(map(raise)).subscribe({ error: handled });
    source.next(1);
    await settled();

    expect(handled).toHaveBeenCalledWith(expect.objectContaining({ message: 'the subscriber failed' }));
  });

  it('serves what else takes observables', async () => {
    const inner = new Subject<number>();
    const told: number[] = [];
    inner.subscribe((value) => told.push(value));
    const subscription = guarded.subscribe(inner);
    const first = firstValueFrom(guarded);
    source.next(1);
    subscription.unsubscribe();

    expect(await first).toBe(1);
    expect(told).toEqual([1]);
  });

  it('is not listened to any more by an operator that has turned to another observable', () => {
    const chosen = new Subject<Observable<number>>();
    chosen.pipe(switchMap((observable) => observable)).subscribe();
    chosen.next(guarded);
    chosen.next(NEVER);

    expect(source.observed).toBe(false);
  });

  it('leaves nobody subscribed who has unsubscribed, behind operators too', async () => {
    const subscriptions = [guarded, guarded.pipe(map(String))].map((each: Observable<unknown>) => each.subscribe());
    const all = firstValueFrom(guarded.pipe(toArray()));
    for (const subscription of subscriptions) subscription.unsubscribe();
    source.next(1);
    source.complete();

    expect(await all).toEqual([1]);
    expect(source.observed).toBe(false);
  });
});

describe('a subscriber of storeEvents$ that fails', () => {
  const start = useApps();

  it('is told of in the log, and the request that noticed the outage is decided', async () => {
    const store = new FailingStore();
    const logger = new LogLines();
    const limiter = (await start('express', { options: { store }, logger })).app.get(RateLimiter);
    limiter.storeEvents$.subscribe(raise);
    store.failure = 'loading';
    const decision = await limiter.consume({ name: 'a', window: 1, limit: 1, onStoreError: 'allow' }, 'alice');
    await settled();

    expect(decision.allowed).toBe(true);
    expect(logger.matching(/A subscriber of RateLimiter\.storeEvents\$ failed.*the subscriber failed/)).toHaveLength(1);
  });
});
