import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge } from '../../src/core/charge.ts';
import type { StoreFailureKind } from '../../src/core/errors.ts';
import { LocalFallback } from '../../src/failure/local-fallback.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { LimitedProcess } from '../support/limited-process.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';

const WARM_UP = { overMs: 8_000, coldFactor: 3 };

const setUp = (instances = 1, count = 1) => {
  const clock = new ManualClock(1_000_000);
  const shared = new MemoryStore({ now: clock.now });
  const processes = Array.from({ length: count }, () => new LimitedProcess(shared, clock.now, instances));
  const [process] = processes as [LimitedProcess];
  const fail = (failure: StoreFailureKind | undefined): void => {
    for (const each of processes) each.link.failure = failure;
  };
  /** As many calls as are admitted, by all in turn. @returns so many */
  const useUp = async (budget: Charge): Promise<number> => {
    let admitted = 0;
    for (let refused = 0; refused < processes.length;) {
      for (const each of processes) {
        if ((await each.consume([budget])).allowed) admitted++;
        else refused++;
      }
    }
    return admitted;
  };
  /** Uses the limit up for so long, at each 20th of a window. @returns how much is admitted in this time */
  const useUpFor = async (budget: Charge, ms: number): Promise<number> => {
    let admitted = 0;
    for (const end = clock.now() + ms; clock.now() < end;) {
      clock.advance(budget.windowMs / 20);
      admitted += await useUp(budget);
    }
    return admitted;
  };
  return { clock, shared, process, fail, useUp, useUpFor };
};
const budgetOf = (overrides: Partial<Charge> = {}): Charge => charge({ limit: 90, warmUp: WARM_UP, ...overrides });

describe('a limit that climbs, in an outage', () => {
  it.each([
    ['is not whole where it was cold', 0, 34],
    ['goes on from where it was', 4_000, 52],
    ['is not cold where it was warm', 12_800, 90],
  ])('%s: by the formula, two windows later', async (_, usedForMs, reached) => {
    const { fail, useUpFor } = setUp();
    const budget = budgetOf();
    await useUpFor(budget, usedForMs);
    fail('connection');
    await useUpFor(budget, budget.windowMs);
    const admitted = await useUpFor(budget, budget.windowMs);
    expect(Math.abs(admitted - reached)).toBeLessThanOrEqual(Math.max(1, 0.05 * reached));
  });

  it('goes on where it was in each of several processes, by its share', async () => {
    const { clock, fail, useUp, useUpFor } = setUp(3, 3);
    const budget = budgetOf();
    await useUpFor(budget, 12_800);
    fail('timeout');
    clock.advance(budget.windowMs);
    const admitted = await useUp(budget);
    expect(admitted).toBeGreaterThan(80);
    expect(admitted).toBeLessThanOrEqual(90);
  });

  it('climbs while the outage lasts, and cools when nobody comes', async () => {
    const { clock, fail, process, useUp, useUpFor } = setUp();
    const budget = budgetOf();
    fail('connection');
    expect(await useUp(budget)).toBe(30);
    await useUpFor(budget, 12_800);
    clock.advance(budget.windowMs);
    expect(await useUp(budget)).toBe(90);
    clock.advance(12_000);
    expect((await process.store.peek([budget])).budgets).toMatchObject([{ remaining: 30, limit: 90, warmUp: WARM_UP }]);
  });

  it('does not hold back what the store admits afterwards', async () => {
    const { clock, fail, shared, useUp } = setUp();
    const budget = budgetOf();
    // Warmed by other processes.
    for (const end = clock.now() + 12_800; clock.now() < end; clock.advance(50)) {
      for (let i = 0; ; i++) {
        if (!(await shared.consume({ id: `other-${clock.now()}-${i}`, charges: [budget] })).allowed) break;
      }
    }
    clock.advance(budget.windowMs);
    fail('connection');
    expect(await useUp(budget)).toBe(30);
    fail(undefined);
    expect(await useUp(budget)).toBe(60);
  });

  it('is told to callers where a process refuses what the store admits', () => {
    const clock = new ManualClock();
    const local = new LocalFallback({ instances: () => 1, onFull: () => undefined, now: clock.now });
    const budget = budgetOf({ limit: 1 });
    local.consume({ id: 'a', charges: [budget] });
    const told = { limit: 1, warmUp: WARM_UP };
    expect(local.confirm('b', [budget], local.now())).toMatchObject({ budgets: [told], refusedBy: [told] });
  });

  it('is cold after a reset', async () => {
    const { clock, fail, process, useUpFor } = setUp();
    const budget = budgetOf();
    await useUpFor(budget, 12_800);
    clock.advance(budget.windowMs);
    await process.store.reset([budget]);
    fail('connection');
    expect((await process.store.peek([budget])).budgets).toMatchObject([{ remaining: 30 }]);
  });
});

const rules = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  windowMs: fc.integer({ min: 5, max: 2_000 }),
  warmUp: fc.record({
    overMs: fc.integer({ min: 1, max: 4_000 }),
    coldFactor: fc.oneof(fc.constant(3), fc.double({ min: 1.01, max: 20, noNaN: true })),
  }),
});
const step = fc.record({
  share: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1.2, noNaN: true })),
  calls: fc.integer({ min: 0, max: 6 }),
  cost: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 13 }) }),
  failure: fc.constantFrom<StoreFailureKind | undefined>(undefined, undefined, 'timeout', 'connection'),
  isGivenBack: fc.boolean(),
});

it('one process admits in no window more than the limit, over random outages, calls and refunds', async () => {
  await fc.assert(
    fc.asyncProperty(rules, fc.array(step, { minLength: 10, maxLength: 40 }), async (rule, history) => {
      const { clock, process, fail } = setUp();
      const budget = charge(rule);
      for (const { share, calls, cost, failure, isGivenBack } of history) {
        clock.advance(Math.round(share * rule.windowMs * 4) / 4);
        fail(failure);
        for (let i = 0; i < calls; i++) await process.consume([{ ...budget, cost }]);
        if (isGivenBack) await process.refund(calls);
      }
      expect(mostAdmittedInAnyWindow(process.admissions(budget), rule.windowMs)).toBeLessThanOrEqual(rule.limit);
    }),
    { numRuns: 300 },
  );
}, 60_000);
