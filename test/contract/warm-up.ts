import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge, LogLayout } from '../../src/core/charge.ts';
import type { RateLimitStore, RefundRequest } from '../../src/core/rate-limit-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';
import { climbed, cooled } from '../support/warm-up-formula.ts';
import { charge } from './store-contract.ts';

/** Makes clients of one store, on the time that the test gives. */
export type CreateClients = (now: () => number, count: number) => readonly RateLimitStore[];

/** Thousands of decisions, on machines that have other things to do. */
const SLOW = 60_000;

let ids = 0;
const nextId = (): string => `w${ids++}`;

/** By how much it is further from the formula than 5 %, or one unit. */
const beyond = (found: number, wanted: number): number =>
  Math.max(0, Math.abs(found - wanted) - Math.max(1, 0.05 * wanted));

/** What every store must do with limits that climb; `runs` of each property. */
export function describeWarmUp(name: string, create: CreateClients, layout: LogLayout, runs: number): void {
  const WARM_UP = { overMs: 8_000, coldFactor: 3 };
  const limit = layout === 'exact' ? 90 : 150;
  const climbing = (overrides: Partial<Charge> = {}): Charge =>
    charge({ limit, windowMs: 1_000, layout, warmUp: WARM_UP, ...overrides });

  describe(`${name}, as a store of ${layout} logs with limits that climb`, () => {
    let clock: ManualClock;
    let stores: readonly RateLimitStore[];
    let store: RateLimitStore;

    beforeEach(() => {
      clock = new ManualClock();
      stores = create(clock.now, 4);
      store = stores[0]!;
    });

    const consume = (budget: Charge, by = store) => by.consume({ id: nextId(), charges: [budget] });
    /** As many units as there are. @returns so many */
    const useUp = async (budget: Charge): Promise<number> => {
      for (let used = 0; ; used += budget.cost) {
        const decision = await consume(budget, stores[used % stores.length]);
        if (!decision.allowed) return used;
      }
    };
    /** Uses the limit up for so long, at each 20th of a window. @returns what was admitted, and the time of the end */
    const useUpFor = async (budget: Charge, ms: number): Promise<readonly Admission[]> => {
      const admissions: Admission[] = [];
      for (const end = clock.now() + ms; ; clock.advance(budget.windowMs / 20)) {
        admissions.push({ at: clock.now(), units: await useUp(budget) });
        if (clock.now() >= end) return admissions;
      }
    };
    const inLastWindow = (admissions: readonly Admission[], { windowMs }: Charge): number =>
      admissions.reduce((sum, { at, units }) => (at > clock.now() - windowMs ? sum + units : sum), 0);
    const effective = async (budget: Charge): Promise<number> => (await store.peek([budget])).budgets[0]!.remaining;
    const warm = async (budget: Charge): Promise<void> => void (await useUpFor(budget, 1.6 * WARM_UP.overMs));

    it('begin at the limit by the cold factor, rounded up', async () => {
      const budget = climbing({ limit: 10 });
      expect(await effective(budget)).toBe(4);
      expect((await consume(budget)).budgets).toMatchObject([{ limit: 10, remaining: 3, warmUp: WARM_UP }]);
      expect(await useUp(budget)).toBe(3);
      expect(await consume(budget)).toMatchObject({ refusedBy: [{ limit: 10, remaining: 0, warmUp: WARM_UP }] });
      expect(await effective(climbing({ limit: 10, warmUp: { overMs: 1, coldFactor: 100 } }))).toBe(1);
      // Where the computer is above the whole number.
      const whole = climbing({ limit: 113, warmUp: { overMs: 1_000, coldFactor: 1.13 } });
      expect(await effective(whole)).toBe(100);
      expect(await consume({ ...whole, cost: 101 })).not.toHaveProperty('retryAfterMs');
      expect((await consume({ ...whole, cost: 100 })).allowed).toBe(true);
    });

    it('let what takes nothing pass where there is room for one unit by the limit that is reached', async () => {
      const budget = climbing({ limit: 10 });
      expect((await consume({ ...budget, cost: 0 })).allowed).toBe(true);
      await useUp(budget);
      const [one, nothing] = [await consume(budget), await consume({ ...budget, cost: 0 })];
      expect(nothing).toMatchObject({ allowed: false, retryAfterMs: one.allowed ? 0 : one.retryAfterMs });
    });

    it('do not climb by a burst that is admitted at once', async () => {
      const budget = climbing({ warmUp: { overMs: 50, coldFactor: 3 } });
      expect(await useUp(budget)).toBe(limit / 3);
      expect(await useUp(budget)).toBe(0);
    });

    it(
      'climb by the formula while four clients use them up, and no further',
      async () => {
        const budget = climbing();
        const found: Admission[] = [];
        for (const share of [0.1, 0.3, 0.5, 0.8, 0.95, 1.2, 1.6]) {
          const ageMs = share * WARM_UP.overMs;
          const lastAt = found.at(-1)?.at ?? clock.now();
          const startedAt = found[0]?.at ?? clock.now();
          if (found.length > 0) clock.advance(50);
          found.push(...(await useUpFor(budget, startedAt + ageMs - lastAt - (found.length > 0 ? 50 : 0))));
          expect(beyond(inLastWindow(found, budget), climbed(limit, WARM_UP, ageMs))).toBe(0);
        }
        expect(mostAdmittedInAnyWindow(found, budget.windowMs)).toBeLessThanOrEqual(limit);
      },
      SLOW,
    );

    it(
      'cool while they are idle, by how long',
      async () => {
        const budget = climbing();
        await warm(budget);
        clock.advance(budget.windowMs);
        expect(await useUp(budget)).toBe(limit);
        // What was admitted at once takes a window.
        clock.advance(1.05 * budget.windowMs);
        const idleForMs = [2_000, 4_800, 6_400, 7_600, 12_000];
        for (const [i, idleMs] of idleForMs.entries()) {
          clock.advance(idleMs - (idleForMs[i - 1] ?? 0));
          expect(beyond(await effective(budget), cooled(limit, WARM_UP, idleMs))).toBe(0);
        }
      },
      SLOW,
    );

    it(
      'climb by the formula where clients come back a little late',
      async () => {
        const budget = climbing({ warmUp: { overMs: 32_000, coldFactor: 3 } });
        const startedAt = clock.now();
        for (let i = 0; i < 29; i++) {
          await useUp(budget);
          clock.advance(1.04 * budget.windowMs);
        }
        expect(beyond(await useUp(budget), climbed(limit, budget.warmUp!, clock.now() - startedAt))).toBe(0);
      },
      SLOW,
    );

    it(
      'are idle from a window after the last use on, however long they were used',
      async () => {
        const budget = climbing();
        await useUpFor(budget, 5 * WARM_UP.overMs);
        clock.advance(1.05 * budget.windowMs + 0.7 * WARM_UP.overMs);
        expect(beyond(await effective(budget), cooled(limit, WARM_UP, 0.7 * WARM_UP.overMs))).toBe(0);
      },
      SLOW,
    );

    it(
      'stay cool where little is used',
      async () => {
        const budget = climbing({ limit: 30 });
        for (let i = 0; i < 200; i++) {
          await consume(budget);
          clock.advance(200);
        }
        expect(await effective(budget)).toBeLessThanOrEqual(11);
      },
      SLOW,
    );

    it(
      'climb also where a call costs several units, which leave no room for another',
      async () => {
        const budget = climbing({ limit: 100, cost: 30 });
        await useUpFor(budget, 1.6 * WARM_UP.overMs);
        clock.advance(budget.windowMs);
        expect(await useUp(budget)).toBe(90);
      },
      SLOW,
    );

    it(
      'climb where the limit is small',
      async () => {
        const budget = climbing({ limit: 4 });
        await warm(budget);
        clock.advance(budget.windowMs);
        expect(await useUp(budget)).toBe(4);
      },
      SLOW,
    );

    it('tell when there is room by the limit that falls until then', async () => {
      const budget = climbing({ warmUp: { overMs: 50, coldFactor: 3 } });
      for (let i = 0; i < 12; i++) {
        await consume({ ...budget, cost: limit / 10 });
        clock.advance(budget.windowMs / 10);
      }
      const large = { ...budget, cost: limit / 3 };
      const decision = await consume(large);
      const retryAfterMs = decision.allowed ? 0 : decision.retryAfterMs!;
      // A third of the units leaves the window in a third of it, but then the limit is lower.
      expect(retryAfterMs).toBeGreaterThan(0.6 * budget.windowMs);
      clock.advance(retryAfterMs - 1);
      expect((await consume(large)).allowed).toBe(false);
      clock.advance(1);
      expect((await consume(large)).allowed).toBe(true);
    });

    it(
      'refuse without a retry time what costs more than a cold log admits',
      async () => {
        const budget = climbing({ limit: 10 });
        await warm(budget);
        clock.advance(budget.windowMs);
        expect(await consume({ ...budget, cost: 5 })).not.toHaveProperty('retryAfterMs');
        expect(await consume({ ...budget, cost: 5 })).toMatchObject({ allowed: false });
        expect((await consume({ ...budget, cost: 4 })).allowed).toBe(true);
      },
      SLOW,
    );

    it(
      'are cold after a reset, and go on after a refund',
      async () => {
        const budget = climbing();
        await warm(budget);
        clock.advance(2 * budget.windowMs);
        const decision = await consume(budget);
        await store.refund({ id: decision.allowed ? decision.id : '', charges: decision.budgets });
        clock.advance(2 * budget.windowMs);
        expect(await effective(budget)).toBe(limit);
        await store.reset([budget]);
        expect(await effective(budget)).toBe(limit / 3);
      },
      SLOW,
    );

    it(
      'climb in the time of a shorter warm-up as soon as it is asked for',
      async () => {
        const budget = climbing();
        await useUpFor({ ...budget, warmUp: { overMs: 3_600_000, coldFactor: 3 } }, 2_000);
        await warm(budget);
        clock.advance(budget.windowMs);
        expect(await useUp(budget)).toBe(limit);
      },
      SLOW,
    );

    it('hold for the charges beside them on one log', async () => {
      const budget = climbing();
      const plain = { ...budget, warmUp: undefined };
      const slow = { ...budget, warmUp: { overMs: 40_000, coldFactor: 2 } };
      const decision = await store.consume({ id: nextId(), charges: [plain, budget, slow] });
      expect(decision.budgets.map(({ remaining }) => remaining)).toEqual(Array(3).fill(limit / 3 - 1));
    });

    if (layout === 'exact') {
      it(
        'do not climb by a repetition',
        async () => {
          const [once, again] = [climbing({ limit: 2 }), climbing({ limit: 2 })];
          for (const [budget, times] of [
            [once, 1],
            [again, 50],
          ] as const) {
            for (let i = 0; i < times; i++) await store.consume({ id: `same-${budget.key.length}`, charges: [budget] });
          }
          clock.advance(900);
          expect(await effective(once)).toBe(await effective(again));
        },
        SLOW,
      );
    }

    it.each([
      ['overMs', { overMs: 0.5, coldFactor: 3 }],
      ['overMs', { overMs: 0, coldFactor: 3 }],
      ['coldFactor', { overMs: 1, coldFactor: 1 }],
      ['coldFactor', { overMs: 1, coldFactor: 100.5 }],
      ['coldFactor', { overMs: 1, coldFactor: NaN }],
    ])('reject a wrong %s: %j', async (field, warmUp) => {
      await expect(consume(climbing({ warmUp }))).rejects.toThrow(field);
    });

    it('reject a large limit of an exact log', async () => {
      const exact = climbing({ layout: 'exact', limit: 129 });
      await expect(consume(exact)).rejects.toThrow('limit must be 1 to 128 in an exact log with a warm-up, got 129');
      expect((await consume({ ...exact, limit: 128 })).allowed).toBe(true);
    });

    const rules = fc.record({
      limit: fc.integer({ min: 1, max: 30 }),
      windowMs: fc.integer({ min: 20, max: 1_000 }),
      warmUp: fc.record({
        overMs: fc.integer({ min: 1, max: 4_000 }),
        coldFactor: fc.oneof(fc.constant(3), fc.double({ min: 1.01, max: 20, noNaN: true })),
      }),
    });
    const steps = fc.array(
      fc.record({
        waitMs: fc.oneof(
          { weight: 4, arbitrary: fc.integer({ min: 0, max: 60 }) },
          { weight: 2, arbitrary: fc.integer({ min: 0, max: 800 }) },
          { weight: 1, arbitrary: fc.integer({ min: 0, max: 4_000 }) },
        ),
        calls: fc.integer({ min: 1, max: 12 }),
        cost: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 8 })),
        isGivenBack: fc.boolean(),
      }),
      { minLength: 3, maxLength: 20 },
    );
    type Rule = typeof rules extends fc.Arbitrary<infer R> ? R : never;
    type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

    async function replay(rule: Rule, history: readonly Step[]) {
      const time = new ManualClock(1_000_000);
      const [created] = create(time.now, 1) as [RateLimitStore];
      const budget = charge({ ...rule, layout });
      const admissions: Admission[] = [];
      for (const { waitMs, calls, cost, isGivenBack } of history) {
        time.advance(waitMs);
        let last: RefundRequest | undefined;
        for (let i = 0; i < calls; i++) {
          const decision = await created.consume({ id: nextId(), charges: [{ ...budget, cost }] });
          const { remaining } = decision.budgets[0]!;
          if (!(remaining >= 0 && remaining <= budget.limit)) throw new RangeError(`remaining is ${remaining}`);
          if (!decision.allowed) continue;
          admissions.push({ at: time.now(), units: cost });
          last = { id: decision.id, charges: decision.budgets, receipt: decision.receipt };
        }
        if (!last || !isGivenBack) continue;
        await created.refund(last);
        admissions.pop();
      }
      return { budget, admissions, time, created };
    }

    it(
      'never admit more than the limit in any window',
      async () => {
        await fc.assert(
          fc.asyncProperty(rules, steps, async (rule, history) => {
            const { budget, admissions } = await replay(rule, history);
            expect(mostAdmittedInAnyWindow(admissions, budget.windowMs)).toBeLessThanOrEqual(budget.limit);
          }),
          { numRuns: runs },
        );
      },
      SLOW,
    );

    it(
      'refuse until retryAfterMs − 1, and admit at retryAfterMs',
      async () => {
        await fc.assert(
          fc.asyncProperty(rules, steps, fc.integer({ min: 1, max: 8 }), async (rule, history, atMost) => {
            const { budget, time, created } = await replay(rule, history);
            const cost = Math.min(atMost, Math.ceil(rule.limit / rule.warmUp.coldFactor - 1e-6));
            const call = () => created.consume({ id: nextId(), charges: [{ ...budget, cost }] });
            for (;;) {
              const decision = await call();
              if (decision.allowed) continue;
              time.advance(decision.retryAfterMs! - 1);
              expect((await call()).allowed).toBe(false);
              time.advance(1);
              expect((await call()).allowed).toBe(true);
              return;
            }
          }),
          { numRuns: runs },
        );
      },
      SLOW,
    );
  });
}
