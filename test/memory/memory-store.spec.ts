import { describe, expect, it } from '@jest/globals';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { StoreFullError } from '../../src/core/errors.ts';
import { describeExactness } from '../contract/exactness.ts';
import { charge, describeStore } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';

for (const layout of ['exact', 'compact'] as const) {
  describeStore('MemoryStore', (now) => new MemoryStore({ now }), layout);
  describeExactness('MemoryStore', (now) => new MemoryStore({ now }), 500, layout);
}

describe('MemoryStore', () => {
  const clock = new ManualClock();
  let calls = 0;
  const setUp = (maxKeys: number) => {
    const store = new MemoryStore({ maxKeys, now: clock.now });
    const consume = (key: string, windowMs = 1_000) =>
      store.consume({ id: `c${calls++}`, charges: [charge({ key, windowMs, limit: 2 })] });
    return { store, consume };
  };

  it('rejects new keys when all it may track are live, and goes on deciding those it tracks', async () => {
    const { consume } = setUp(2);
    await consume('a');
    await consume('b');
    await expect(consume('c')).rejects.toThrow(StoreFullError);
    expect((await consume('a')).allowed).toBe(true);
    expect((await consume('a')).allowed).toBe(false);
  });

  it('names the logs that have no room, so that the others can still be decided', async () => {
    const { store, consume } = setUp(1);
    await consume('known');
    const both = [charge({ key: 'known', limit: 2 }), charge({ key: 'new' })];
    const failure: unknown = await store.consume({ id: 'both', charges: both }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'full', untracked: new Set(['new:1000']) });
    expect((await store.peek([both[0]!])).budgets[0]!.remaining).toBe(1);
  });

  it('keeps the record of a client that invents keys to flush it', async () => {
    const { consume } = setUp(50);
    await consume('attacker');
    await consume('attacker');
    for (let i = 0; i < 500; i++) await consume(`invented${i}`).catch(() => undefined);
    expect((await consume('attacker')).allowed).toBe(false);
  });

  it('takes new keys in place of expired ones', async () => {
    const { store, consume } = setUp(3);
    for (const key of ['a', 'b', 'c']) await consume(key);
    clock.advance(1_000);
    for (const key of ['d', 'e', 'f']) expect((await consume(key)).allowed).toBe(true);
    expect(store.size).toBe(3);
  });

  it('finds expired keys of every window when it is full', async () => {
    const { consume } = setUp(3);
    await consume('long', 60_000);
    for (const windowMs of [10, 20]) await consume('short', windowMs);
    clock.advance(20);
    expect((await consume('new', 5_000)).allowed).toBe(true);
    expect((await consume('newer', 5_000)).allowed).toBe(true);
    await expect(consume('newest', 5_000)).rejects.toThrow(StoreFullError);
  });

  it('forgets expired keys while it works, without timers', async () => {
    const { store, consume } = setUp(100_000);
    for (let i = 0; i < 1_000; i++) await consume(`old${i}`);
    clock.advance(1_000);
    for (let i = 0; i < 1_000; i++) await consume(`new${i}`);
    expect(store.size).toBe(1_000);
  });

  it('decides what takes nothing on keys that it has no room for, and tracks none of them', async () => {
    const { store, consume } = setUp(1);
    await consume('known');
    const free = [charge({ cost: 0 }), charge({ cost: 0, layout: 'compact' })];
    expect(await store.consume({ id: 'free', charges: free })).toMatchObject({ allowed: true });
    expect(store.size).toBe(1);
  });

  it('does not track keys that were refused, reset or given back', async () => {
    const { store } = setUp(10);
    await store.consume({ id: 'dear', charges: [charge({ limit: 1, cost: 2 })] });
    const budget = charge();
    await store.consume({ id: 'mine', charges: [budget] });
    await store.refund({ id: 'mine', charges: [budget] });
    const other = charge();
    await store.consume({ id: 'other', charges: [other] });
    await store.reset([other]);
    expect(store.size).toBe(0);
  });
});
