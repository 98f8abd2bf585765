import { beforeEach, describe, expect, it } from '@jest/globals';
import { StoreUnavailableError } from '../../src/core/errors.ts';
import { callIds } from '../../src/core/call-id.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { MOST_WAITING, WaitingCalls, type WaitingCallsParts } from '../../src/waiting/waiting-calls.ts';
import { ManualMoments } from '../support/manual-moments.ts';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import { usedHeapBytes } from '../support/used-heap.ts';
import { DistantStore, WaitingProcess } from '../support/waiting-process.ts';

const WINDOW_MS = 1_000;
const BUDGET = charge({ limit: 2, windowMs: WINDOW_MS });
const costing = (cost: number) => ({ ...BUDGET, limit: 4, cost });

let moments: ManualMoments;
let store: DistantStore;
let waiter: WaitingProcess;
let jitter: number;

const startWith = (oneWayMs = 0): void => {
  moments = new ManualMoments();
  jitter = 0;
  store = new DistantStore(new MemoryStore({ now: moments.now }), moments, () => oneWayMs);
  waiter = new WaitingProcess(store, moments, () => jitter);
};
const acquireAll = (...names: readonly string[]): void => {
  for (const name of names) waiter.acquire(name, BUDGET);
};

describe('a call that waits for its turn', () => {
  beforeEach(() => startWith());

  it('is admitted at once where there is room', async () => {
    acquireAll('a', 'b');
    await moments.settle();

    expect(waiter.outcomes).toMatchObject([
      { name: 'a', at: 0, decision: { allowed: true, budgets: [{ remaining: 1 }] } },
      { name: 'b', at: 0, decision: { allowed: true, budgets: [{ remaining: 0 }] } },
    ]);
  });

  it('is admitted at the moment at which there is room, those that came first before', async () => {
    acquireAll('a', 'b', 'c', 'd', 'e');
    await moments.runAll();

    expect(waiter.outcomes.map(({ name, at }) => `${name} ${at}`)).toEqual([
      'a 0',
      'b 0',
      'c 1000',
      'd 1000',
      'e 2000',
    ]);
  });

  it('does not ask the store again before it said that there is room', async () => {
    acquireAll('a', 'b', 'c');
    await moments.advance(WINDOW_MS - 1);
    expect(store.askedAt).toEqual([0, 0, 0]);

    await moments.advance(1);
    expect(store.askedAt).toEqual([0, 0, 0, WINDOW_MS]);
    expect(waiter.admitted).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['1 % of the window', WINDOW_MS, 10],
    ['100 ms', 60_000, 100],
  ])('asks later than that by at most %s', async (_, windowMs, longestMs) => {
    jitter = 0.9;
    waiter.acquire('a', { ...BUDGET, limit: 1, windowMs });
    waiter.acquire('b', { ...BUDGET, limit: 1, windowMs });
    await moments.runAll();

    expect(waiter.outcomeOf('b')!.at).toBeCloseTo(windowMs + 0.9 * longestMs);
  });

  it('asks before its patience ends, whatever the jitter would be', async () => {
    jitter = 0.9;
    acquireAll('a', 'b');
    waiter.acquire('c', BUDGET, { maxWaitMs: WINDOW_MS + 3 });
    await moments.runAll();

    expect(waiter.outcomeOf('c')).toMatchObject({ at: WINDOW_MS + 3, decision: { allowed: true } });
  });

  it('asks before the patience of one that comes later ends', async () => {
    jitter = 0.9;
    acquireAll('a', 'b', 'c');
    await moments.advance(500);
    waiter.acquire('d', BUDGET, { maxWaitMs: 502 });
    await moments.runAll();

    expect(waiter.outcomes.slice(2)).toMatchObject([
      { name: 'c', at: 1_002, decision: { allowed: true } },
      { name: 'd', at: 1_002, decision: { allowed: true } },
    ]);
  });

  it('waits as long as exactly its patience', async () => {
    acquireAll('a', 'b');
    waiter.acquire('c', BUDGET, { maxWaitMs: WINDOW_MS });
    await moments.runAll();

    expect(waiter.outcomeOf('c')).toMatchObject({ at: WINDOW_MS, decision: { allowed: true } });
  });

  it('has a queue for each budget', async () => {
    acquireAll('a', 'b', 'c');
    waiter.acquire('other', { ...BUDGET, key: 'other' });
    await moments.settle();

    expect(waiter.admitted).toEqual(['a', 'other', 'b']);
  });

  it.each([
    ['there is none', undefined],
    ['it takes another time', { overMs: 1_000, coldFactor: 2 }],
    ['it begins elsewhere', { overMs: 10_000, coldFactor: 4 }],
  ])('has a queue for each warm-up of a budget: where %s', async (_, warmUp) => {
    const climbing = { ...BUDGET, limit: 4, warmUp: { overMs: 10_000, coldFactor: 2 } };
    for (const name of ['a', 'b', 'c']) waiter.acquire(name, climbing);
    await moments.settle();
    const { length: asked } = store.askedAt;
    waiter.acquire('other', { ...climbing, warmUp });
    await moments.settle();

    expect(waiter.admitted.slice(0, 2)).toEqual(['a', 'b']);
    expect(store.askedAt.length).toBe(asked + 1);
  });

  it('waits until a limit that climbs has room', async () => {
    const climbing = { ...BUDGET, limit: 10, warmUp: { overMs: 2_000, coldFactor: 5 } };
    for (let i = 0; i < 40; i++) waiter.acquire(`c${i}`, climbing);
    await moments.runAll();

    const admissions = waiter.outcomes.map(({ at }) => ({ at, units: 1 }));
    expect(waiter.admitted).toEqual(Array.from({ length: 40 }, (_, i) => `c${i}`));
    expect(admissions.filter(({ at }) => at === 0)).toHaveLength(2);
    expect(mostAdmittedInAnyWindow(admissions, WINDOW_MS)).toBeLessThanOrEqual(10);
    expect(store.askedAt.length).toBeLessThanOrEqual(80);
  });
});

describe('a call that would wait too long', () => {
  beforeEach(() => startWith());

  it('is denied as soon as the store tells', async () => {
    acquireAll('a', 'b');
    waiter.acquire('c', BUDGET, { maxWaitMs: WINDOW_MS - 1 });
    await moments.settle();

    expect(waiter.outcomeOf('c')).toMatchObject({
      at: 0,
      decision: {
        allowed: false,
        retryAfterMs: WINDOW_MS,
        refusedBy: [{ ...BUDGET, remaining: 0, resetAfterMs: WINDOW_MS, retryAfterMs: WINDOW_MS }],
      },
    });
  });

  it('is denied for those that wait before it, with the moment of its own turn', async () => {
    acquireAll('a', 'b', 'c', 'd');
    waiter.acquire('e', BUDGET, { maxWaitMs: 2 * WINDOW_MS - 1 });
    await moments.settle();

    expect(waiter.outcomeOf('e')).toMatchObject({ at: 0, decision: { allowed: false, retryAfterMs: 2 * WINDOW_MS } });
    await moments.advance(400);
    waiter.acquire('f', BUDGET, { maxWaitMs: 1_599 });
    waiter.acquire('g', BUDGET, { maxWaitMs: 1_600 });
    await moments.runAll();
    expect(waiter.outcomeOf('f')).toMatchObject({ at: 400, decision: { allowed: false, retryAfterMs: 1_600 } });
    expect(waiter.admitted).toEqual(['a', 'b', 'c', 'd', 'g']);
    expect(waiter.outcomeOf('g')!.at).toBe(2 * WINDOW_MS);
  });

  it('leaves its place to those behind it', async () => {
    acquireAll('a', 'b', 'c');
    waiter.acquire('d', BUDGET, { maxWaitMs: 10 });
    waiter.acquire('e', BUDGET, { maxWaitMs: WINDOW_MS });
    await moments.runAll();

    expect(waiter.admitted).toEqual(['a', 'b', 'c', 'e']);
  });

  it('is denied later, when others took the room that it waited for', async () => {
    acquireAll('a', 'b');
    waiter.acquire('c', BUDGET, { maxWaitMs: 1_500 });
    const other = new WaitingProcess(store, moments, () => 0);
    await moments.advance(WINDOW_MS - 1);
    jitter = 0.9;
    for (const name of ['x', 'y']) other.acquire(name, BUDGET);
    moments.clock.advance(1);
    await moments.runAll();

    expect(other.admitted).toHaveLength(2);
    expect(waiter.outcomeOf('c')).toMatchObject({ decision: { allowed: false } });
    expect(waiter.outcomeOf('c')!.at).toBeLessThan(1_010);
  });

  it('is denied at once when too many wait, and asks nobody', async () => {
    acquireAll('a', 'b', 'c', 'd', 'e');
    await moments.settle();
    const { length: asked } = store.askedAt;
    waiter.acquire('f', BUDGET, { maxQueued: 3 });
    waiter.acquire('g', BUDGET, { maxQueued: 4 });
    await moments.settle();

    expect(waiter.outcomeOf('f')).toMatchObject({ at: 0, decision: { allowed: false, retryAfterMs: 2 * WINDOW_MS } });
    expect(waiter.outcomeOf('g')).toBeUndefined();
    expect(store.askedAt).toHaveLength(asked);
  });

  it('is denied where too many wait for the first answer', async () => {
    startWith(5);
    acquireAll('a', 'b', 'c', 'd');
    waiter.acquire('e', BUDGET, { maxQueued: 4 });
    await moments.settle();

    expect(waiter.outcomes).toMatchObject([{ name: 'e', decision: { allowed: false, retryAfterMs: 2 * WINDOW_MS } }]);
  });

  it('takes no memory where too many wait for all budgets together, whatever keys clients choose', async () => {
    const never: WaitingCallsParts['store'] = { consume: () => new Promise(() => undefined), refund: async () => {} };
    const calls = new WaitingCalls({ store: never, nextId: callIds(), moments });
    const patience = { maxWaitMs: Infinity, maxQueued: MOST_WAITING, signal: undefined };
    for (let i = 0; i < MOST_WAITING; i++) void calls.acquire(BUDGET, patience);
    const before = usedHeapBytes();
    for (let i = 0; i < 10_000; i++) {
      expect((await calls.acquire(charge({ key: `{ip:${i}}:x` }), patience)).allowed).toBe(false);
    }
    const grownBy = usedHeapBytes() - before;
    // Not to be collected before.
    expect(calls).toBeInstanceOf(WaitingCalls);
    expect(grownBy).toBeLessThan(2_000_000);
  });

  it('is denied at once where no waiting helps, and holds nobody up', async () => {
    waiter.acquire('too much', { ...BUDGET, cost: 3 });
    acquireAll('a');
    await moments.settle();

    expect(waiter.outcomeOf('too much')).toMatchObject({ at: 0, decision: { allowed: false } });
    expect(waiter.outcomeOf('too much')!.decision).not.toHaveProperty('retryAfterMs');
    expect(waiter.admitted).toEqual(['a']);
  });
});

describe('calls of several costs', () => {
  beforeEach(() => startWith());

  it('keep their order, though there is room for a smaller one before', async () => {
    waiter.acquire('a', costing(3));
    waiter.acquire('b', costing(2));
    waiter.acquire('c', costing(1));
    await moments.runAll();

    expect(waiter.outcomes.map(({ name, at }) => `${name} ${at}`)).toEqual(['a 0', 'b 1000', 'c 1000']);
  });

  it('do not wait for a larger one that has left', async () => {
    const abort = new AbortController();
    waiter.acquire('a', costing(3));
    waiter.acquire('b', costing(2), { signal: abort.signal });
    waiter.acquire('c', costing(1));
    await moments.advance(100);
    abort.abort();
    await moments.settle();

    expect(waiter.outcomeOf('c')).toMatchObject({ at: 100, decision: { allowed: true } });
  });

  it('take nothing where they cost nothing, and wait for room for one unit', async () => {
    for (const name of ['a', 'b', 'c']) waiter.acquire(name, costing(0));
    waiter.acquire('d', costing(4));
    waiter.acquire('e', costing(0), { maxWaitMs: WINDOW_MS });
    waiter.acquire('f', costing(0));
    await moments.runAll();

    expect(waiter.outcomes.map(({ name, at }) => `${name} ${at}`)).toEqual([
      'a 0',
      'b 0',
      'c 0',
      'd 0',
      'e 1000',
      'f 1000',
    ]);
  });

  it('do not wait for a larger one that is denied', async () => {
    waiter.acquire('a', costing(3));
    waiter.acquire('b', costing(2), { maxWaitMs: 10 });
    waiter.acquire('c', costing(1));
    await moments.settle();

    expect(waiter.outcomeOf('b')).toMatchObject({ at: 0, decision: { allowed: false } });
    expect(waiter.outcomeOf('c')).toMatchObject({ at: 0, decision: { allowed: true } });
  });
});

describe('a call that is aborted', () => {
  beforeEach(() => startWith(5));

  it('takes nothing when it was aborted before, and asks nobody', async () => {
    waiter.acquire('a', BUDGET, { signal: AbortSignal.abort('gone') });
    await moments.runAll();

    expect(waiter.outcomes).toMatchObject([{ name: 'a', error: 'gone' }]);
    expect(store.askedAt).toEqual([]);
  });

  it('gives back what it was admitted for meanwhile, where nobody else waits', async () => {
    const abort = new AbortController();
    waiter.acquire('a', BUDGET, { signal: abort.signal });
    await moments.advance(7);
    abort.abort('gone');
    await moments.settle();
    expect(waiter.outcomes).toMatchObject([{ name: 'a', at: 7, error: 'gone' }]);

    await moments.runAll();
    expect(store.refunded).toHaveLength(1);
    acquireAll('b', 'c');
    await moments.runAll();
    expect(waiter.admitted).toEqual(['b', 'c']);
    expect(moments.now()).toBeLessThan(WINDOW_MS);
  });

  it('leaves what it was admitted for to the next', async () => {
    const abort = new AbortController();
    waiter.acquire('a', BUDGET, { signal: abort.signal });
    acquireAll('b');
    await moments.advance(7);
    abort.abort('gone');
    await moments.runAll();

    expect(waiter.admitted).toEqual(['b']);
    expect(waiter.outcomeOf('b')!.at).toBe(10);
    expect(store.refunded).toEqual([]);
  });

  it('does not wake those that wait behind it before there is room', async () => {
    const abort = new AbortController();
    acquireAll('a', 'b');
    waiter.acquire('c', BUDGET, { signal: abort.signal });
    acquireAll('d');
    await moments.advance(100);
    const { length: asked } = store.askedAt;
    abort.abort('gone');
    await moments.settle();
    expect(store.askedAt).toHaveLength(asked);

    await moments.runAll();
    expect(waiter.admitted).toEqual(['a', 'b', 'd']);
  });

  it('plans nothing any more when it was the only one', async () => {
    const abort = new AbortController();
    acquireAll('a', 'b');
    waiter.acquire('c', BUDGET, { signal: abort.signal });
    await moments.advance(100);
    abort.abort();

    expect(moments.planned).toEqual([]);
  });
});

describe('a store that fails while calls wait', () => {
  beforeEach(() => startWith());

  it('fails those that would have been asked for, and the next go on', async () => {
    acquireAll('a', 'b', 'c', 'd');
    await moments.settle();
    store.failure = new StoreUnavailableError('connection', 'the test broke this store');
    const failing = moments.advance(WINDOW_MS);
    await failing;

    expect(waiter.outcomeOf('c')).toMatchObject({ at: WINDOW_MS, error: { kind: 'connection' } });
    expect(waiter.outcomeOf('d')).toMatchObject({ at: WINDOW_MS, error: { kind: 'connection' } });
    store.failure = undefined;
    acquireAll('e', 'f');
    await moments.settle();
    expect(waiter.admitted).toEqual(['a', 'b', 'e', 'f']);
  });

  it('lets all pass where its answers know no budgets', async () => {
    const allowing = {
      consume: async () => ({ allowed: true, id: 'x', budgets: [] }) as const,
      refund: async () => {},
    };
    const passing = new WaitingProcess(allowing, moments, () => 0);
    for (let i = 0; i < 50; i++) passing.acquire(`${i}`, BUDGET);
    await moments.runAll();

    expect(passing.admitted).toHaveLength(50);
    expect(moments.now()).toBe(0);
  });

  it('is asked no further where it denies without a moment', async () => {
    const [budget] = [{ ...BUDGET, remaining: 0, resetAfterMs: 1 }];
    const denying = {
      consume: async () => ({ allowed: false, budgets: [budget], refusedBy: [budget] }) as const,
      refund: async () => {},
    };
    const denied = new WaitingProcess(denying, moments, () => 0);
    for (const name of ['a', 'b']) denied.acquire(name, BUDGET);
    await moments.runAll();

    expect(denied.outcomes).toMatchObject([{ decision: { allowed: false } }, { decision: { allowed: false } }]);
  });
});

describe('the end of all waiting', () => {
  beforeEach(() => startWith(5));

  it('tells those that wait and those that come, and gives back what is under way', async () => {
    acquireAll('a', 'b', 'c');
    await moments.advance(50);
    waiter.acquire('d', { ...BUDGET, key: 'other' });
    let isOver = false;
    void waiter.calls.end('closed').then(() => (isOver = true));
    await moments.settle();
    expect(waiter.outcomes.slice(2)).toMatchObject([
      { name: 'c', error: 'closed' },
      { name: 'd', error: 'closed' },
    ]);
    expect(isOver).toBe(false);

    await moments.runAll();
    expect(isOver).toBe(true);
    expect(store.refunded).toHaveLength(1);
    waiter.acquire('e', BUDGET);
    await moments.settle();
    expect(waiter.outcomeOf('e')).toMatchObject({ error: 'closed' });
  });

  it('is there at once where nobody waits', async () => {
    await expect(waiter.calls.end('closed')).resolves.toBeUndefined();
  });
});
