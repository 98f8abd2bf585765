import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Decision } from '../../src/core/decision.ts';
import type { ConsumeRequest, RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { DeadlineStore } from '../../src/failure/deadline-store.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MOST_UNDER_WAY = 10_000;

/** A store whose answers come when the test wants them to. */
class HeldStore extends MemoryStore {
  readonly held: { answer: () => void; fail: (error: Error) => void; request: ConsumeRequest }[] = [];

  override consume(request: ConsumeRequest): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const decision: Decision = { allowed: true, id: request.id, budgets: [] };
      this.held.push({ request, answer: () => resolve(decision), fail: reject });
    });
  }

  override peek(): Promise<never> {
    return new Promise(() => undefined);
  }
}

describe('calls that wait for the store', () => {
  let inner = new HeldStore();
  const budget = charge();
  const begin = (store: RateLimitStore, calls: number): Promise<unknown> =>
    Promise.allSettled(Array.from({ length: calls }, (_, i) => store.consume({ id: `c${i}`, charges: [budget] })));
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  afterEach(async () => {
    jest.restoreAllMocks();
    for (const { answer } of inner.held) answer();
    await settle();
    inner = new HeldStore();
  });

  it(`are ${MOST_UNDER_WAY} at most: one more is rejected at once, and the store is not asked`, async () => {
    const store = new DeadlineStore(inner, 60_000);
    void begin(store, MOST_UNDER_WAY);
    expect(inner.held).toHaveLength(MOST_UNDER_WAY);
    const request = { id: 'x', charges: [budget] };
    for (const call of [store.consume(request), store.peek([budget]), store.refund(request), store.reset([budget])]) {
      await expect(call).rejects.toMatchObject({ name: 'StoreUnavailableError', kind: 'overloaded' });
    }
    expect(inner.held).toHaveLength(MOST_UNDER_WAY);
  });

  it.each(['answer', 'fail'] as const)('make room for as many others as the store settles: %s', async (outcome) => {
    const store = new DeadlineStore(inner, 60_000);
    void begin(store, MOST_UNDER_WAY);
    for (const held of inner.held.slice(0, 2)) held[outcome](new Error('told to fail'));
    await settle();
    void begin(store, 3);
    expect(inner.held).toHaveLength(MOST_UNDER_WAY + 2);
  });

  it('are not counted for ever when the store settles none of them, but for two seconds at least', async () => {
    const clock = new ManualClock();
    jest.spyOn(performance, 'now').mockImplementation(clock.now);
    const store = new DeadlineStore(inner, 60_000);
    void begin(store, 6_000);
    clock.advance(2_001);
    void begin(store, 5_000);
    expect(inner.held).toHaveLength(10_000);
    clock.advance(2_001);
    void begin(store, 9_000);
    expect(inner.held).toHaveLength(16_000);
  });

  it('go on counting after their deadline, until the store settles them', async () => {
    const store = new DeadlineStore(inner, 1);
    await begin(store, MOST_UNDER_WAY);
    await expect(store.consume({ id: 'x', charges: [budget] })).rejects.toMatchObject({ kind: 'overloaded' });
    inner.held[0]!.answer();
    await settle();
    const call = store.consume({ id: 'y', charges: [budget] });
    inner.held.at(-1)!.answer();
    await expect(call).resolves.toMatchObject({ allowed: true, id: 'y' });
  });
});

describe('the time of a call', () => {
  it.each([
    [undefined, 500],
    [200, 200],
    [Infinity, 500],
    [900, 500],
  ])('of %p ms is told to the store, cut to the deadline', async (withinMs, told) => {
    const inner = new HeldStore();
    const call = new DeadlineStore(inner, 500).consume({ id: 'a', charges: [charge()], ...(withinMs && { withinMs }) });
    expect(inner.held[0]!.request.withinMs).toBe(told);
    inner.held[0]!.answer();
    await call;
  });
});
