import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge, LogLayout } from '../../src/core/charge.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';
import { useRedis } from '../support/redis.ts';

const { client, keyPrefix } = useRedis();
const HOUR_MS = 3_600_000;
let ids = 0;

/** A store whose clock steps as the test says, beside the time that really passes. */
const setUp = (layout: LogLayout) => {
  const elapsed = new ManualClock();
  let aheadMs = 0;
  const store = new RedisStore(client, { keyPrefix, now: () => elapsed.now() + aheadMs });
  const admissions: Admission[] = [];
  const consume = async (budget: Charge) => {
    const decision = await store.consume({ id: `s${ids++}`, charges: [budget] });
    if (decision.allowed) admissions.push({ at: elapsed.now(), units: budget.cost });
    return decision;
  };
  /** As many units as there are. */
  const useUp = async (budget: Charge): Promise<void> => {
    while ((await consume(budget)).allowed);
  };
  const useUpFor = async (budget: Charge, ms: number): Promise<void> => {
    for (const end = elapsed.now() + ms; elapsed.now() < end; elapsed.advance(budget.windowMs / 20)) {
      await useUp(budget);
    }
  };
  const effective = async (budget: Charge): Promise<number> => (await store.peek([budget])).budgets[0]!.remaining;
  const step = (ms: number): void => void (aheadMs += ms);
  return { elapsed, store, admissions, consume, useUp, useUpFor, effective, step, layout };
};
const budgetOf = (layout: LogLayout, overrides: Partial<Charge> = {}): Charge =>
  charge({ limit: 90, layout, warmUp: { overMs: 4_000, coldFactor: 3 }, ...overrides });

describe.each<LogLayout>(['exact', 'compact'])('a limit that climbs, in an %s log of a clock that steps', (layout) => {
  it('goes on from where it was after a step back, and is cold no sooner than without', async () => {
    const { elapsed, effective, useUpFor, useUp, step } = setUp(layout);
    const budget = budgetOf(layout);
    await useUpFor(budget, 6_400);
    step(-HOUR_MS);
    await useUp(budget);
    elapsed.advance(1.01 * budget.windowMs);
    expect(await effective(budget)).toBe(90);
    elapsed.advance(6_000);
    expect(await effective(budget)).toBe(30);
  });

  it('is known no longer than without, after a step back', async () => {
    const { effective, useUpFor, useUp, step, elapsed } = setUp(layout);
    const budget = budgetOf(layout);
    await useUpFor(budget, 1_000);
    step(-HOUR_MS);
    await useUp(budget);
    elapsed.advance(1.01 * budget.windowMs);
    await effective(budget);
    // Tests give the time, so keys live a minute longer.
    for (const key of await client.keys(`${keyPrefix}*~warm`)) {
      expect(await client.pttl(key)).toBeLessThanOrEqual(60_000 + 4_000 + 1.05 * budget.windowMs);
    }
  });

  it('is never below the limit of a cold log', async () => {
    const { effective, consume, step } = setUp(layout);
    const budget = budgetOf(layout, { limit: 100, warmUp: { overMs: 1_000, coldFactor: 10 } });
    await consume(budget);
    step(-900);
    expect(await effective(budget)).toBe(9);
  });

  it('does not climb by a step back alone', async () => {
    const { elapsed, effective, useUp, step } = setUp(layout);
    const budget = budgetOf(layout);
    await useUp(budget);
    for (let i = 0; i < 20; i++) {
      step(-HOUR_MS);
      await useUp(budget);
    }
    elapsed.advance(2_000);
    expect(await effective(budget)).toBeLessThan(40);
  });

  it('refuses until retryAfterMs − 1 and admits at retryAfterMs, counted from the first refusal after a step', async () => {
    const rules = fc.record({
      limit: fc.integer({ min: 1, max: 30 }),
      windowMs: fc.integer({ min: 20, max: 1_000 }),
      warmUp: fc.record({ overMs: fc.integer({ min: 1, max: 4_000 }), coldFactor: fc.constantFrom(1.5, 3, 10) }),
    });
    const steps = fc.array(fc.record({ waitMs: fc.nat(400), stepMs: fc.integer({ min: -10_000, max: 10_000 }) }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(rules, steps, async (rule, history) => {
        const { elapsed, consume, useUp, step } = setUp(layout);
        const budget = charge({ ...rule, layout });
        for (const { waitMs, stepMs } of history) {
          elapsed.advance(waitMs);
          await useUp(budget);
          step(stepMs);
        }
        for (;;) {
          const decision = await consume(budget);
          if (decision.allowed) continue;
          const { retryAfterMs } = decision;
          // A slice of a compact log ends a hundredth of the window late.
          expect(retryAfterMs).toBeLessThanOrEqual(Math.ceil(1.01 * rule.windowMs));
          elapsed.advance(retryAfterMs! - 1);
          expect((await consume(budget)).allowed).toBe(false);
          elapsed.advance(1);
          expect((await consume(budget)).allowed).toBe(true);
          return;
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it('is never above the limit in any window, but for how far the clock stepped forwards in it', async () => {
    const history = fc.array(fc.record({ waitMs: fc.nat(400), stepMs: fc.integer({ min: 0, max: 300 }) }), {
      minLength: 2,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 30 }), history, async (limit, turns) => {
        const { admissions, elapsed, useUp, step } = setUp(layout);
        const budget = charge({ limit, layout, windowMs: 1_000, warmUp: { overMs: 1_500, coldFactor: 3 } });
        let forwardsMs = 0;
        // Back, and forth again, and so on.
        for (const [i, { waitMs, stepMs }] of turns.entries()) {
          elapsed.advance(waitMs);
          await useUp(budget);
          step(i % 2 === 0 ? -stepMs : stepMs);
          if (i % 2 === 1) forwardsMs += stepMs;
          await useUp(budget);
        }
        const sureMs = Math.max(0, budget.windowMs - forwardsMs);
        expect(sureMs && mostAdmittedInAnyWindow(admissions, sureMs)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
