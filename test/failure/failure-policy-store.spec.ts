import { describe, expect, it } from '@jest/globals';
import { stat } from 'node:fs/promises';
import { StoreFullError } from '../../src/core/errors.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { CircuitBreakerStore } from '../../src/failure/circuit-breaker-store.ts';
import { CircuitBreaker } from '../../src/failure/circuit-breaker.ts';
import { DeadlineStore } from '../../src/failure/deadline-store.ts';
import { FailurePolicyStore } from '../../src/failure/failure-policy-store.ts';
import { LocalFallback } from '../../src/failure/local-fallback.ts';
import { StoreEvents } from '../../src/failure/store-events.ts';
import type { StoreEvent } from '../../src/core/store-event.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { describeExactness } from '../contract/exactness.ts';
import { charge, describeStore } from '../contract/store-contract.ts';
import { FailingStore } from '../support/failing-store.ts';
import { ManualClock } from '../support/manual-clock.ts';

const wrapped = (now: () => number): RateLimitStore => {
  const events = new StoreEvents(() => undefined, now);
  const local = new LocalFallback({ instances: () => 1, onFull: () => undefined, now });
  const guarded = new CircuitBreakerStore(
    new DeadlineStore(new MemoryStore({ now }), 1_000),
    new CircuitBreaker({ now }),
  );
  return new FailurePolicyStore(guarded, { onStoreError: 'local', events, vitals: guarded, local });
};

for (const layout of ['exact', 'compact'] as const) describeStore('the wrapped store', wrapped, layout);
describeExactness('the wrapped store', wrapped, 100);
describeExactness('the wrapped store', wrapped, 100, 'compact');

const setUp = (onStoreError: 'allow' | 'deny' = 'allow', maxKeys = 100) => {
  const inner = new FailingStore({ maxKeys });
  const events: string[] = [];
  const onEvent = (event: StoreEvent): void => {
    events.push(event.type === 'unavailable' ? event.error.kind : event.type);
  };
  const clock = new ManualClock();
  const store = new FailurePolicyStore(inner, { onStoreError, events: new StoreEvents(onEvent, clock.now) });
  return { inner, events, store, clock };
};

describe('a store that cannot decide', () => {
  it('lets calls through, knowing nothing of their budgets, where the policy allows', async () => {
    const { inner, store } = setUp('allow');
    inner.failure = 'connection';
    expect(await store.consume({ id: 'a', charges: [charge()] })).toEqual({
      allowed: true,
      id: 'a',
      budgets: [],
      decidedBy: 'policy',
    });
    expect(await store.peek([charge()])).toEqual({ allowed: true, budgets: [] });
  });

  it('passes the failure on where the policy denies', async () => {
    const { inner, store } = setUp('deny');
    inner.failure = 'connection';
    await expect(store.consume({ id: 'a', charges: [charge()] })).rejects.toMatchObject({ kind: 'connection' });
    await expect(store.peek([charge()])).rejects.toMatchObject({ kind: 'connection' });
  });

  it('follows the policy of a charge before its own, and denies when one of them does', async () => {
    const { inner, store } = setUp('deny');
    inner.failure = 'connection';
    const [allow, deny] = [charge({ onStoreError: 'allow' }), charge({ onStoreError: 'deny' })];
    expect(await store.consume({ id: 'a', charges: [allow] })).toMatchObject({ allowed: true });
    await expect(store.consume({ id: 'b', charges: [allow, deny] })).rejects.toMatchObject({ kind: 'connection' });
  });

  it.each(['timeout', 'connection'] as const)(
    'takes a late charge back when the call was denied, and leaves it when the call was served: %s',
    async (kind) => {
      const { inner, store } = setUp();
      inner.failure = kind;
      const [served, denied] = [charge({ onStoreError: 'allow' }), charge({ onStoreError: 'deny' })];
      await store.consume({ id: 'served', charges: [served] });
      await expect(store.consume({ id: 'denied', charges: [denied] })).rejects.toMatchObject({ kind });
      expect(inner.refunded).toEqual(['denied']);
      inner.failure = undefined;
      expect((await store.peek([served, denied])).budgets.map(({ remaining }) => remaining)).toEqual([2, 3]);
    },
  );

  it('takes nothing back when it said that it charged nothing', async () => {
    const { inner, store } = setUp('deny');
    inner.failure = 'readonly';
    await expect(store.consume({ id: 'a', charges: [charge()] })).rejects.toMatchObject({ kind: 'readonly' });
    expect(inner.refunded).toEqual([]);
  });

  it('never hides a fault of the caller or of ours', async () => {
    const { inner, store } = setUp('allow');
    inner.failure = new TypeError('a bug');
    await expect(store.consume({ id: 'a', charges: [charge()] })).rejects.toThrow('a bug');
  });

  it('is told once when it fails, and once when it answers without failing for a second', async () => {
    const { inner, store, events, clock } = setUp();
    for (const failure of [undefined, 'connection', 'timeout', undefined, 'connection'] as const) {
      inner.failure = failure;
      await store.peek([charge()]);
    }
    expect(events).toEqual(['connection']);
    inner.failure = undefined;
    clock.advance(999);
    await store.peek([charge()]);
    expect(events).toEqual(['connection']);
    clock.advance(1);
    await store.peek([charge()]);
    await store.peek([charge()]);
    inner.failure = 'timeout';
    await store.peek([charge()]);
    expect(events).toEqual(['connection', 'available', 'timeout']);
  });

  it('is not told again and again where some calls fail and others do not', async () => {
    const { inner, store, events, clock } = setUp();
    for (let i = 0; i < 100; i++) {
      inner.failure = i % 2 === 0 ? 'out-of-memory' : undefined;
      clock.advance(50);
      await store.peek([charge()]);
    }
    expect(events).toEqual(['out-of-memory']);
  });

  it('is told of failures of single requests once a minute for each kind', async () => {
    const { inner, store, events, clock } = setUp();
    for (const failure of ['wrong-type', undefined, 'wrong-type', 'cross-slot', undefined, 'wrong-type'] as const) {
      inner.failure = failure;
      await store.peek([charge()]);
    }
    expect(events).toEqual(['wrong-type', 'cross-slot']);
    inner.failure = 'wrong-type';
    clock.advance(60_000);
    await store.peek([charge()]);
    expect(events).toEqual(['wrong-type', 'cross-slot', 'wrong-type']);
  });

  it('decides all the same when the listener fails', async () => {
    const inner = new FailingStore();
    inner.failure = 'connection';
    const onStoreEvent = (): never => {
      throw new Error('a listener that fails');
    };
    const store = await createRateLimitStore({ store: inner, onStoreEvent });
    expect(await store.consume({ id: 'a', charges: [charge()] })).toMatchObject({ allowed: true });
  });
});

describe('a call that has no time left', () => {
  it.each([0, -1, -Infinity])('is decided by its policy, and the store is not asked (%d ms)', async (withinMs) => {
    const inner = new FailingStore({ maxKeys: 100 });
    const events: StoreEvent[] = [];
    const guarded = new CircuitBreakerStore(inner);
    const store = new FailurePolicyStore(guarded, {
      onStoreError: 'deny',
      events: new StoreEvents((event) => events.push(event)),
      vitals: guarded,
    });
    await expect(store.consume({ id: 'a', charges: [charge()], withinMs })).rejects.toMatchObject({ kind: 'timeout' });
    expect([inner.asked, inner.refunded, events]).toEqual([0, [], []]);
  });

  it('is decided all the same within the process, where there is nothing to wait for', async () => {
    const store = await createRateLimitStore();
    const charges = [charge({ limit: 1 })];
    await store.consume({ id: 'a', charges, withinMs: -1 });
    expect(await store.consume({ id: 'b', charges, withinMs: -1 })).toMatchObject({ allowed: false });
  });
});

describe('a full in-process store', () => {
  it('still judges the budgets that it tracks, in the same call', async () => {
    const { store } = setUp('allow', 1);
    const known = charge({ limit: 2 });
    await store.consume({ id: 'a', charges: [known] });
    const decision = await store.consume({ id: 'b', charges: [known, charge()] });
    expect(decision).toMatchObject({ allowed: true, budgets: [{ key: known.key, remaining: 0 }] });
    expect(await store.consume({ id: 'c', charges: [known, charge()] })).toMatchObject({ allowed: false });
  });

  it('admits a new key where its policy allows, refuses it as unavailable where it denies, and says so once', async () => {
    const { store, events } = setUp('allow', 1);
    await store.consume({ id: 'a', charges: [charge()] });
    for (let i = 0; i < 3; i++) {
      expect(await store.consume({ id: `b${i}`, charges: [charge()] })).toMatchObject({ allowed: true, budgets: [] });
    }
    const strict = store.consume({ id: 'c', charges: [charge({ onStoreError: 'deny' })] });
    await expect(strict).rejects.toMatchObject({ kind: 'full' });
    expect(events).toEqual(['full']);
  });

  it('always has room for the keys that no client chooses', async () => {
    const { store } = setUp('allow', 1);
    await store.consume({ id: 'a', charges: [charge()] });
    const method = charge({ limit: 1, isAlwaysTracked: true });
    expect(await store.consume({ id: 'b', charges: [method] })).toMatchObject({ allowed: true });
    expect(await store.consume({ id: 'c', charges: [charge(), method] })).toMatchObject({ allowed: false });
  });

  it('is not asked for ever when it is full for none of the charges', async () => {
    const inner: RateLimitStore = Object.assign(new MemoryStore(), {
      consume: () => Promise.reject(new StoreFullError(new Set(['another']), 1)),
    });
    const store = new FailurePolicyStore(inner, {
      onStoreError: 'allow',
      events: new StoreEvents(() => undefined),
    });
    expect(await store.consume({ id: 'a', charges: [charge()] })).toMatchObject({ allowed: true, budgets: [] });
  });
});

describe('a deadline', () => {
  const never: RateLimitStore = {
    consume: () => new Promise(() => undefined),
    peek: () => new Promise(() => undefined),
    refund: () => new Promise(() => undefined),
    reset: () => new Promise(() => undefined),
  };

  it.each(['consume', 'peek', 'refund', 'reset'] as const)('ends a %s that gets no answer', async (method) => {
    const store = new DeadlineStore(never, 20);
    const begun = performance.now();
    const call =
      method === 'peek' || method === 'reset'
        ? store[method]([charge()])
        : store[method]({ id: 'a', charges: [charge()] });
    await expect(call).rejects.toMatchObject({ name: 'StoreUnavailableError', kind: 'timeout' });
    expect(performance.now() - begun).toBeLessThan(500);
  });

  it('does not hold an answer against a process that was too busy to read it in time', async () => {
    // The file system answers while the process is busy; the event loop comes to its timers before it reads that.
    const answering: RateLimitStore = { ...never, reset: async () => void (await stat('.')) };
    const call = new Promise((resolve) => {
      setImmediate(() => {
        resolve(new DeadlineStore(answering, 5).reset([charge()]));
        const busyUntil = performance.now() + 30;
        while (performance.now() < busyUntil);
      });
    });
    await expect(call).resolves.toBeUndefined();
  });

  it('is the sooner one of the store and of the call', async () => {
    const begun = performance.now();
    const call = new DeadlineStore(never, 60_000).consume({ id: 'a', charges: [charge()], withinMs: 10 });
    await expect(call).rejects.toMatchObject({ kind: 'timeout' });
    expect(performance.now() - begun).toBeLessThan(500);
  });

  it('leaves no timer behind an answer', async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    await new DeadlineStore(new MemoryStore(), 60_000).peek([charge()]);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')).toHaveLength(before);
  });
});
