import { describe, expect, it } from '@jest/globals';
import type { Charge } from '../../src/core/charge.ts';
import type { StoreFullError } from '../../src/core/errors.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { LocalFallback, type LocalFallbackOptions } from '../../src/failure/local-fallback.ts';
import { describeExactness } from '../contract/exactness.ts';
import { charge, describeStore } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** As a store, for the contract. */
function create(now: () => number): RateLimitStore {
  const local = new LocalFallback({ instances: () => 1, onFull: () => undefined, now });
  return {
    consume: async (request) => local.consume(request),
    peek: async (charges) => local.peek(charges),
    refund: async (request) => local.refund(request),
    reset: async (charges) => local.reset(charges),
  };
}

describeStore('LocalFallback', create);
describeExactness('LocalFallback', create, 100);

let calls = 0;
const setUp = (options: Partial<LocalFallbackOptions> = {}) => {
  const clock = new ManualClock();
  const full: StoreFullError[] = [];
  const onFull = (error: StoreFullError): void => void full.push(error);
  const local = new LocalFallback({ instances: () => 1, onFull, now: clock.now, ...options });
  const consume = async (...charges: readonly Charge[]) => local.consume({ id: `c${calls++}`, charges });
  /** How many calls in a row are admitted. */
  const admitted = async (...charges: readonly Charge[]): Promise<number> => {
    for (let count = 0; ; count++) if (!(await consume(...charges)).allowed) return count;
  };
  return { clock, full, local, consume, admitted };
};

describe('the share of a process', () => {
  it.each([
    { instances: 1, limit: 7, share: 7 },
    { instances: 2, limit: 7, share: 3 },
    { instances: 2, limit: 8, share: 4 },
    { instances: 3, limit: 7, share: 2 },
    { instances: 3, limit: 2, share: 1 },
    { instances: 1.5, limit: 7, share: 7 },
    { instances: 2.9, limit: 7, share: 3 },
    { instances: Infinity, limit: 7, share: 1 },
    { instances: 0, limit: 7, share: 7 },
    { instances: -1, limit: 7, share: 7 },
    { instances: -Infinity, limit: 7, share: 7 },
    { instances: NaN, limit: 7, share: 7 },
  ])('is $share of $limit among $instances', async ({ instances, limit, share }) => {
    const { admitted } = setUp({ instances: () => instances });
    expect(await admitted(charge({ limit }))).toBe(share);
  });

  it('follows the number of processes from call to call', async () => {
    let instances = 4;
    const { admitted, consume } = setUp({ instances: () => instances });
    const budget = charge({ limit: 8 });
    expect(await admitted(budget)).toBe(2);
    instances = 2;
    expect(await admitted(budget)).toBe(2);
    instances = 4;
    expect((await consume(budget)).allowed).toBe(false);
  });

  it('is not told: budgets and refusals have the limit of the caller, and what is left of the share', async () => {
    const { consume, local } = setUp({ instances: () => 3 });
    const budget = charge({ limit: 6, rule: 'burst' });
    expect(local.peek([budget])).toMatchObject({ allowed: true, budgets: [{ limit: 6, remaining: 2 }] });
    expect(await consume(budget)).toMatchObject({ budgets: [{ ...budget, remaining: 1, resetAfterMs: 1_000 }] });
    await consume(budget);
    const refusal = { ...budget, remaining: 0, resetAfterMs: 1_000, retryAfterMs: 1_000 };
    const denied = {
      allowed: false,
      budgets: [{ ...budget, remaining: 0 }],
      refusedBy: [refusal],
      retryAfterMs: 1_000,
    };
    expect(await consume(budget)).toMatchObject(denied);
    expect(local.peek([budget])).toMatchObject(denied);
  });

  it('is not told either where two rules share a log, or windows share a key', async () => {
    const { consume } = setUp({ instances: () => 2 });
    const [wide, narrow] = [charge({ limit: 10, rule: 'wide' }), { limit: 4, rule: 'narrow' }];
    const charges = [wide, { ...wide, ...narrow }, { ...wide, windowMs: 2_000, limit: 6 }];
    const remaining = [1, 1, 2];
    const expected = charges.map((each, i) => ({ ...each, remaining: remaining[i] }));
    expect(await consume(...charges)).toMatchObject({ allowed: true, budgets: expected });
    await consume(...charges);
    expect(await consume(...charges)).toMatchObject({ allowed: false, refusedBy: [{ rule: 'narrow', limit: 4 }] });
  });
});

describe('a log of this process', () => {
  it.each([
    ['exact', 129],
    ['exact', 10_000],
    ['compact', 10_001],
  ])('is %s for a limit of %d, whatever the store keeps', async (layout, limit) => {
    const { clock, consume, local } = setUp();
    const budget = charge({ limit, cost: 100, layout: 'compact' });
    // In the middle of a slice of 10 ms.
    clock.advance(5);
    const resetAfterMs = layout === 'exact' ? 1_000 : 1_005;
    expect(await consume(budget)).toMatchObject({ budgets: [{ limit, layout: 'compact', resetAfterMs }] });
    expect(local.peek([budget]).budgets).toEqual([{ ...budget, remaining: limit - 100, resetAfterMs }]);
  });

  it('is told in the layout and the limit of the caller where it refuses what the store admits', async () => {
    const { consume, local } = setUp();
    const budget = charge({ limit: 1, layout: 'compact' });
    await consume(budget);
    const told = { limit: 1, layout: 'compact' };
    const refusal = { budgets: [told], refusedBy: [told] };
    expect(local.objection([budget])).toMatchObject(refusal);
    expect(local.confirm('b', [budget], local.now())).toMatchObject(refusal);
  });

  it('gives back by its receipt, where it is compact', async () => {
    const { consume, local } = setUp();
    const budget = charge({ limit: 20_000 });
    const decision = await consume(budget);
    if (!decision.allowed) throw new Error('the call was refused');
    local.refund({ id: decision.id, charges: [budget], receipt: decision.receipt });
    expect(local.peek([budget]).budgets).toMatchObject([{ remaining: 20_000 }]);
  });
});

describe('a call that is given back', () => {
  it.each([
    ['is taken out of an exact log', 10_000, 9_998],
    ['leaves a compact log as it is, without a receipt of it', 20_000, 19_997],
  ])('%s, and takes nothing of what the store admitted before', async (_, limit, left) => {
    const { consume, local } = setUp();
    const budget = charge({ limit });
    local.confirm('before', [budget], local.now(), Infinity);
    await consume(budget);
    const at = local.now();
    local.confirm('mine', [budget], at, Infinity);
    local.giveBack({ id: 'mine', charges: [budget] }, at);
    expect(local.peek([budget]).budgets).toMatchObject([{ remaining: left }]);
  });
});

describe('a store that may have forgotten', () => {
  it.each([
    ['lost its data since', 400, true],
    ['kept its data for a whole window', 1_000, false],
  ])('is believed unless it forgot what is counted here: one that %s', async (_, memoryAgeMs, isObjectedTo) => {
    const { clock, local } = setUp();
    const budget = charge({ limit: 1, windowMs: 1_000 });
    expect(local.confirm('a', [budget], local.now(), 0)).toBeUndefined();
    clock.advance(500);
    const objection = local.confirm('b', [budget], local.now(), memoryAgeMs);
    expect(objection?.allowed).toBe(isObjectedTo ? false : undefined);
  });

  it('is believed when it is young, but older than what is counted here', async () => {
    const { clock, local } = setUp();
    const budget = charge({ limit: 1, windowMs: 1_000 });
    // An eighth of the window has begun, then the store, then what is counted.
    clock.advance(125 - (clock.now() % 125) + 60);
    local.confirm('a', [budget], local.now(), 30);
    clock.advance(500);
    expect(local.confirm('b', [budget], local.now(), 530)).toBeUndefined();
  });

  it('is not counted call by call while it is only young', async () => {
    const { clock, local, full, consume } = setUp({ maxKeys: 1 });
    const budgets = Array.from({ length: 5 }, () => charge({ windowMs: 1_000 }));
    for (const budget of budgets) {
      clock.advance(10);
      for (const id of ['a', 'b']) local.confirm(`${id}${budget.key}`, [budget], local.now(), clock.now());
    }
    await consume(charge());
    expect(full).toEqual([]);
  });

  it('counts what it admits after the loss by itself', async () => {
    const { clock, local, full, consume } = setUp({ maxKeys: 1 });
    local.confirm('before', [charge({ windowMs: 1_000 })], local.now(), Infinity);
    clock.advance(500);
    const budget = charge({ windowMs: 1_000 });
    for (const id of ['a', 'b', 'c']) local.confirm(id, [budget], local.now(), 100);
    await consume(charge());
    expect(full).toEqual([]);
  });
});

describe('a process that tracks as many keys as it may', () => {
  it('admits the others, and reports each call with their names', async () => {
    const { consume, full, local } = setUp({ maxKeys: 1 });
    const [known, other] = [charge({ limit: 1 }), charge({ limit: 1 })];
    await consume(known);
    for (let i = 0; i < 3; i++) expect(await consume(other)).toMatchObject({ allowed: true, budgets: [] });
    expect(full.map(({ kind, untracked }) => [kind, [...untracked]])).toEqual(
      Array(3).fill(['full', [`${other.key}:1000`]]),
    );
    expect(local.peek([other]).allowed).toBe(true);
  });

  it('decides the keys that it tracks in the same call, and those that no client chooses', async () => {
    const { consume, full } = setUp({ maxKeys: 1 });
    const [known, method] = [charge({ limit: 2 }), charge({ limit: 1, isAlwaysTracked: true })];
    await consume(known);
    expect(await consume(charge(), known)).toMatchObject({
      allowed: true,
      budgets: [{ key: known.key, remaining: 0 }],
    });
    expect(await consume(charge(), known)).toMatchObject({ allowed: false, refusedBy: [{ key: known.key }] });
    expect(full).toHaveLength(2);
    expect((await consume(method)).allowed).toBe(true);
    expect((await consume(method)).allowed).toBe(false);
    expect(full).toHaveLength(2);
  });

  it('tracks no other key, though the store admitted a call of it', async () => {
    const { consume, full, local } = setUp({ maxKeys: 1 });
    const [known, other] = [charge({ limit: 1 }), charge({ limit: 1 })];
    await consume(known);
    expect(local.confirm('stored', [other], local.now(), Infinity)).toBeUndefined();
    expect(await consume(other)).toMatchObject({ allowed: true, budgets: [] });
    expect(full).toHaveLength(1);
  });

  it('tracks others when those have left their windows', async () => {
    const { clock, consume, admitted } = setUp({ maxKeys: 1 });
    await consume(charge());
    clock.advance(1_000);
    expect(await admitted(charge({ limit: 2, windowMs: 10 }))).toBe(2);
  });

  it('has room for 100,000 keys unless it is told otherwise', async () => {
    const { full, consume } = setUp();
    const budgets = Array.from({ length: 100_000 }, () => charge({ limit: 1 }));
    for (const budget of budgets) await consume(budget);
    expect(full).toEqual([]);
    await consume(charge());
    expect(full).toHaveLength(1);
  });
});

describe('a fault of the caller', () => {
  it.each([
    { fault: 'no charges', charges: [] },
    { fault: 'a limit of 0', charges: [charge({ limit: 0 })] },
    { fault: 'a cost below 0', charges: [charge({ cost: -1 })] },
  ])('is told, not let through: $fault', async ({ charges }) => {
    const { consume } = setUp();
    await expect(consume(...charges)).rejects.toMatchObject({ name: 'RateLimitRequestError' });
  });
});
