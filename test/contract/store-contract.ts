import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Charge, LogLayout } from '../../src/core/charge.ts';
import type { Denied } from '../../src/core/decision.ts';
import type { RateLimitStore, RefundRequest } from '../../src/core/rate-limit-store.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** Makes the store under test, on the time that the test gives. */
export type CreateStore = (now: () => number) => RateLimitStore;

let keys = 0;
/** A budget that no other test uses. All have one hash tag: on Redis Cluster only such charges are one step. */
export const charge = (overrides: Partial<Charge> = {}): Charge => ({
  key: `{test}:place${keys++}`,
  limit: 3,
  windowMs: 1_000,
  cost: 1,
  ...overrides,
});

/**
 * What every store must do. Run it from the spec of each store, wrapped stores included, for each layout of its logs:
 * what they answer differs in repetitions, and in refunds without a receipt. Times are multiples of a slice.
 */
export function describeStore(name: string, create: CreateStore, layout: LogLayout = 'exact'): void {
  const budgetOf = (overrides: Partial<Charge> = {}): Charge => charge({ layout, ...overrides });

  describe(`${name}, as a store with ${layout} logs`, () => {
    let clock: ManualClock;
    let store: RateLimitStore;
    let calls = 0;

    beforeEach(() => {
      clock = new ManualClock();
      store = create(clock.now);
    });

    const consume = (...charges: readonly Charge[]) => store.consume({ id: `call${calls++}`, charges });
    const fill = async (budget: Charge, times = budget.limit): Promise<void> => {
      for (let i = 0; i < times; i++) await consume(budget);
    };
    const remaining = async (budget: Charge): Promise<number> => (await store.peek([budget])).budgets[0]!.remaining;
    const refused = async (...charges: readonly Charge[]): Promise<Denied> => {
      const decision = await consume(...charges);
      if (decision.allowed) throw new Error('the call was admitted');
      return decision;
    };

    /** A call that was admitted, as a refund names it. */
    const admitted = async (...charges: readonly Charge[]): Promise<RefundRequest> => {
      const decision = await consume(...charges);
      if (!decision.allowed) throw new Error('the call was refused');
      return { id: decision.id, charges: decision.budgets, receipt: decision.receipt };
    };

    describe('one budget', () => {
      it('admits as many units as the limit, then refuses', async () => {
        const budget = budgetOf({ limit: 3 });
        const answers = [];
        for (let i = 0; i < 5; i++) answers.push((await consume(budget)).allowed);
        expect(answers).toEqual([true, true, true, false, false]);
      });

      it('tells after each call what is left and when the budget is whole again', async () => {
        const budget = budgetOf({ limit: 2, windowMs: 1_000 });
        expect((await consume(budget)).budgets).toEqual([{ ...budget, remaining: 1, resetAfterMs: 1_000 }]);
        clock.advance(300);
        expect((await consume(budget)).budgets).toEqual([{ ...budget, remaining: 0, resetAfterMs: 1_000 }]);
        clock.advance(300);
        expect((await consume(budget)).budgets).toEqual([{ ...budget, remaining: 0, resetAfterMs: 700 }]);
      });

      it('tells of each charge, in budgets and refusals, what its call told', async () => {
        const onStoreError = 'deny';
        const told = budgetOf({ limit: 1, rule: 'rule', onStoreError, isAlwaysTracked: true });
        expect((await consume(told)).budgets).toEqual([{ ...told, remaining: 0, resetAfterMs: 1_000 }]);
        expect((await store.peek([told])).budgets).toMatchObject([told]);
        const { budgets, refusedBy } = await refused(told);
        expect([...budgets, ...refusedBy]).toMatchObject([told, told]);
      });

      it('lets an entry live while it is younger than the window, to the millisecond', async () => {
        const budget = budgetOf({ limit: 1, windowMs: 1_000 });
        await consume(budget);
        clock.advance(999);
        expect((await consume(budget)).allowed).toBe(false);
        clock.advance(1);
        expect((await consume(budget)).allowed).toBe(true);
      });

      it('slides: room comes back one entry at a time, in the order in which it was taken', async () => {
        const budget = budgetOf({ limit: 2, windowMs: 1_000 });
        await consume(budget);
        clock.advance(600);
        await consume(budget);
        clock.advance(400);
        expect((await consume(budget)).allowed).toBe(true);
        expect((await consume(budget)).allowed).toBe(false);
      });

      it('keeps apart calls of the same instant', async () => {
        const budget = budgetOf({ limit: 5 });
        await fill(budget, 3);
        expect(await remaining(budget)).toBe(2);
      });

      it('decides windows of a few milliseconds', async () => {
        const budget = budgetOf({ limit: 1, windowMs: 5 });
        await consume(budget);
        clock.advance(4);
        expect((await refused(budget)).retryAfterMs).toBe(1);
        clock.advance(1);
        expect((await consume(budget)).allowed).toBe(true);
      });

      it('does not record refusals: who keeps knocking is let in when the oldest entry leaves', async () => {
        const budget = budgetOf({ limit: 1, windowMs: 1_000 });
        await consume(budget);
        for (let i = 0; i < 9; i++) {
          clock.advance(100);
          await refused(budget);
        }
        clock.advance(100);
        expect((await consume(budget)).allowed).toBe(true);
      });

      it('keeps the history when the limit changes', async () => {
        const budget = budgetOf({ limit: 5 });
        await fill(budget, 4);
        expect((await refused({ ...budget, limit: 3 })).refusedBy[0].remaining).toBe(0);
        expect((await consume({ ...budget, limit: 6 })).budgets[0]!.remaining).toBe(1);
      });

      it('counts equal keys of different windows apart', async () => {
        const short = budgetOf({ limit: 1, windowMs: 100 });
        const long = { ...short, windowMs: 10_000 };
        await consume(short);
        expect((await consume(long)).allowed).toBe(true);
        clock.advance(100);
        expect((await consume(short)).allowed).toBe(true);
        expect((await consume(long)).allowed).toBe(false);
      });
    });

    describe('cost', () => {
      it('takes as many units as it says', async () => {
        const budget = budgetOf({ limit: 5, cost: 3 });
        expect((await consume(budget)).budgets[0]!.remaining).toBe(2);
        expect((await consume(budget)).allowed).toBe(false);
        expect((await consume({ ...budget, cost: 2 })).allowed).toBe(true);
      });

      it('waits for as many entries to leave as it needs', async () => {
        const budget = budgetOf({ limit: 4, windowMs: 1_000 });
        for (let i = 0; i < 4; i++) {
          await consume(budget);
          clock.advance(100);
        }
        // The four leave after 600, 700, 800 and 900 ms from here.
        expect((await refused(budget)).retryAfterMs).toBe(600);
        expect((await refused({ ...budget, cost: 3 })).retryAfterMs).toBe(800);
      });

      it('above the limit is refused without a retry time, since no waiting helps', async () => {
        const budget = budgetOf({ limit: 2, cost: 3 });
        const denied = await refused(budget);
        expect(denied).not.toHaveProperty('retryAfterMs');
        expect(denied.refusedBy[0]).not.toHaveProperty('retryAfterMs');
        expect(denied.refusedBy[0].remaining).toBe(2);
      });

      if (layout === 'exact') {
        it('above 128 is refused like one above the limit, since an exact log cannot take it at once', async () => {
          const denied = await refused(budgetOf({ limit: 500, cost: 129 }));
          expect(denied).not.toHaveProperty('retryAfterMs');
          expect(await refused(budgetOf({ limit: 500, cost: Number.MAX_SAFE_INTEGER }))).toMatchObject({
            allowed: false,
          });
        });
      } else {
        it('may be as large as the limit, whatever that is', async () => {
          const budget = budgetOf({ limit: 1_000_000_000, cost: 600_000_000 });
          expect((await consume(budget)).budgets[0]!.remaining).toBe(400_000_000);
          expect((await refused(budget)).retryAfterMs).toBe(1_000);
          expect((await consume({ ...budget, cost: 400_000_000 })).budgets[0]!.remaining).toBe(0);
          expect(await refused({ ...budget, cost: 1_000_000_001 })).not.toHaveProperty('retryAfterMs');
        });
      }

      it('may be 128 units at once', async () => {
        const budget = budgetOf({ limit: 300, cost: 128 });
        await consume(budget);
        expect((await consume(budget)).budgets[0]!.remaining).toBe(44);
        expect((await consume(budget)).allowed).toBe(false);
      });
    });

    describe('a cost of 0', () => {
      it('takes nothing, and tells what there is', async () => {
        const budget = budgetOf({ limit: 2, windowMs: 1_000 });
        const free = { ...budget, cost: 0 };
        expect((await consume(free)).budgets).toEqual([{ ...free, remaining: 2, resetAfterMs: 0 }]);
        await consume(budget);
        clock.advance(300);
        for (let i = 0; i < 3; i++) {
          expect((await consume(free)).budgets).toEqual([{ ...free, remaining: 1, resetAfterMs: 700 }]);
        }
        expect((await store.peek([free])).budgets).toEqual([{ ...free, remaining: 1, resetAfterMs: 700 }]);
      });

      it('is refused while there is no room for one unit, as long as a cost of 1', async () => {
        const budget = budgetOf({ limit: 2, windowMs: 1_000 });
        await consume(budget);
        clock.advance(400);
        await consume(budget);
        const dear = await refused(budget);
        const denied = await refused({ ...budget, cost: 0 });
        expect(denied.retryAfterMs).toBe(600);
        expect(denied.retryAfterMs).toBe(dear.retryAfterMs);
        expect(await store.peek([{ ...budget, cost: 0 }])).toMatchObject({ allowed: false, retryAfterMs: 600 });
        clock.advance(599);
        await refused({ ...budget, cost: 0 });
        clock.advance(1);
        expect((await consume({ ...budget, cost: 0 })).budgets[0]!.remaining).toBe(1);
      });

      it('keeps the other charges of its call from being taken, and lets them be taken', async () => {
        const [gate, budget] = [budgetOf({ limit: 1, windowMs: 5_000 }), budgetOf()];
        await consume({ ...gate, cost: 0 }, budget);
        expect([await remaining(gate), await remaining(budget)]).toEqual([1, 2]);
        await consume(gate);
        expect((await refused(budget, { ...gate, cost: 0 })).refusedBy).toMatchObject([{ key: gate.key, cost: 0 }]);
        expect(await remaining(budget)).toBe(2);
      });

      it('beside another cost on its log is that one', async () => {
        const budget = budgetOf({ limit: 3, cost: 2 });
        await consume({ ...budget, cost: 0 }, budget);
        expect(await remaining(budget)).toBe(1);
      });

      it('has nothing to give back, and gives nothing of others back', async () => {
        const [free, budget] = [budgetOf({ cost: 0 }), budgetOf()];
        await store.refund(await admitted(free, budget));
        expect([await remaining(free), await remaining(budget)]).toEqual([3, 3]);
        const call = await admitted(budget);
        await store.refund({ ...call, charges: [{ ...budget, cost: 0 }] });
        expect(await remaining(budget)).toBe(2);
      });
    });

    describe('several budgets', () => {
      it('blames the charge with the smallest limit where charges were merged', async () => {
        const wide = budgetOf({ limit: 9, rule: 'wide' });
        const narrow = { ...wide, limit: 1, rule: 'narrow' };
        await consume(wide, narrow);
        expect((await refused(wide, narrow)).refusedBy).toMatchObject([{ rule: 'narrow', limit: 1 }]);
        expect(await store.peek([wide, narrow])).toMatchObject({ refusedBy: [{ rule: 'narrow' }] });
      });

      it('takes all or none', async () => {
        const [wide, narrow] = [budgetOf({ limit: 10 }), budgetOf({ limit: 1 })];
        await consume(wide, narrow);
        await refused(wide, narrow);
        await refused(narrow, wide);
        expect(await remaining(wide)).toBe(9);
        expect(await remaining(narrow)).toBe(0);
      });

      it('tells every budget in the order of the request, and the refusing ones by their wait', async () => {
        const [soon, open, late] = [budgetOf({ limit: 1 }), budgetOf(), budgetOf({ limit: 1, windowMs: 5_000 })];
        await consume(soon);
        await consume(late);
        const denied = await refused(soon, open, late);
        expect(denied.budgets.map(({ key }) => key)).toEqual([soon.key, open.key, late.key]);
        expect(denied.refusedBy.map(({ key }) => key)).toEqual([late.key, soon.key]);
        expect(denied.retryAfterMs).toBe(5_000);
      });

      it('puts a refusal that never ends first, and then tells no time', async () => {
        const [full, tooDear] = [budgetOf({ limit: 1 }), budgetOf({ limit: 1, cost: 2 })];
        await consume(full);
        const denied = await refused(full, tooDear);
        expect(denied.refusedBy.map(({ key }) => key)).toEqual([tooDear.key, full.key]);
        expect(denied).not.toHaveProperty('retryAfterMs');
      });

      it('merges charges on one log: the smallest limit, the largest cost', async () => {
        const budget = budgetOf({ limit: 5, cost: 1 });
        const decision = await consume(budget, { ...budget, limit: 4, cost: 2 });
        expect(decision.budgets.map((state) => state.remaining)).toEqual([2, 2]);
        expect((await refused(budget, { ...budget, limit: 4, cost: 3 })).refusedBy).toMatchObject([{ limit: 4 }]);
      });

      it('carries back the label and the policy of a charge', async () => {
        const budget = budgetOf({ rule: 'log-in', onStoreError: 'deny' });
        expect((await consume(budget)).budgets[0]).toMatchObject({ rule: 'log-in', onStoreError: 'deny' });
      });
    });

    describe('repetition', () => {
      it('decides a refused id afresh', async () => {
        const budget = budgetOf({ limit: 1 });
        await consume(budget);
        expect((await store.consume({ id: 'later', charges: [budget] })).allowed).toBe(false);
        clock.advance(1_000);
        expect((await store.consume({ id: 'later', charges: [budget] })).allowed).toBe(true);
      });

      if (layout === 'compact') {
        it('is charged again, since a compact log does not know calls', async () => {
          const budget = budgetOf({ limit: 3 });
          await store.consume({ id: 'again', charges: [budget] });
          expect(await store.consume({ id: 'again', charges: [budget] })).toMatchObject({
            budgets: [{ remaining: 1 }],
          });
        });
        return;
      }

      it('admits an admitted id again without charging it', async () => {
        const budget = budgetOf({ limit: 2 });
        for (let i = 0; i < 3; i++) {
          const decision = await store.consume({ id: 'again', charges: [budget] });
          expect(decision).toMatchObject({ allowed: true, budgets: [{ remaining: 1 }] });
        }
      });

      it('admits an admitted id again when the budget is full by now', async () => {
        const budget = budgetOf({ limit: 1, cost: 1 });
        await store.consume({ id: 'again', charges: [budget] });
        expect(await store.consume({ id: 'again', charges: [budget] })).toMatchObject({ allowed: true });
      });

      it('finds the repetition by any of its budgets, whichever window ended first', async () => {
        const [short, long] = [budgetOf({ windowMs: 100 }), budgetOf({ windowMs: 10_000 })];
        for (const charges of [
          [short, long],
          [long, short],
        ]) {
          const id = `again${calls++}`;
          await store.consume({ id, charges });
          clock.advance(100);
          const before = [await remaining(short), await remaining(long)];
          expect(await store.consume({ id, charges })).toMatchObject({ allowed: true });
          expect([await remaining(short), await remaining(long)]).toEqual(before);
        }
      });

      it('decides an id afresh when all its entries left', async () => {
        const budget = budgetOf({ limit: 1, cost: 1 });
        await store.consume({ id: 'again', charges: [budget] });
        clock.advance(1_000);
        expect(await store.consume({ id: 'again', charges: [budget] })).toMatchObject({ budgets: [{ remaining: 0 }] });
        await refused(budget);
      });

      it('decides a call of several units afresh when its entries left', async () => {
        const budget = budgetOf({ limit: 4, cost: 3 });
        await store.consume({ id: 'again', charges: [budget] });
        clock.advance(1_000);
        expect(await store.consume({ id: 'again', charges: [budget] })).toMatchObject({ budgets: [{ remaining: 1 }] });
      });

      it('does not charge a repetition that costs more', async () => {
        const budget = budgetOf({ limit: 10, cost: 2 });
        await store.consume({ id: 'again', charges: [budget] });
        await store.consume({ id: 'again', charges: [{ ...budget, cost: 5 }] });
        expect(await remaining(budget)).toBe(8);
      });
    });

    describe('refund', () => {
      it('gives back what the call took, and nothing else', async () => {
        const [a, b] = [budgetOf({ limit: 5, cost: 2 }), budgetOf({ limit: 5 })];
        await consume(a, b);
        await store.refund(await admitted(a, b));
        expect([await remaining(a), await remaining(b)]).toEqual([3, 4]);
      });

      it('without a receipt gives back what is known of the call', async () => {
        const budget = budgetOf();
        await store.consume({ id: 'mine', charges: [budget] });
        await store.refund({ id: 'mine', charges: [budget] });
        expect(await remaining(budget)).toBe(layout === 'exact' ? 3 : 2);
      });

      it('has no effect twice, on strangers, or after the window', async () => {
        const budget = budgetOf({ limit: 3 });
        await consume(budget);
        const mine = await admitted(budget);
        await store.refund({ id: 'stranger', charges: [budget] });
        expect(await remaining(budget)).toBe(1);
        await store.refund(mine);
        await store.refund(mine);
        expect(await remaining(budget)).toBe(2);
        const old = await admitted(budget);
        clock.advance(1_000);
        await fill(budget, 3);
        await store.refund(old);
        expect(await remaining(budget)).toBe(0);
      });

      it('has no effect on what was charged after a reset', async () => {
        const budget = budgetOf();
        const before = await admitted(budget);
        clock.advance(1);
        await store.reset([budget]);
        await fill(budget, 2);
        await store.refund(before);
        expect(await remaining(budget)).toBe(1);
      });

      it('gives back some charges of a call, and the others later, each once', async () => {
        const [a, b, c] = [budgetOf({ cost: 2 }), budgetOf({ cost: 3 }), budgetOf()];
        const { id, receipt } = await admitted(a, b, c);
        const left = async () => [await remaining(a), await remaining(b), await remaining(c)];
        await store.refund({ id, charges: [b], receipt });
        expect(await left()).toEqual([1, 3, 2]);
        await store.refund({ id, charges: [b], receipt });
        expect(await left()).toEqual([1, 3, 2]);
        await store.refund({ id, charges: [c, a], receipt });
        expect(await left()).toEqual([3, 3, 3]);
      });

      it('of some charges takes back neither what others took, nor what was charged on the same log since', async () => {
        const [a, b] = [budgetOf({ limit: 5 }), budgetOf({ limit: 5 })];
        await consume(a, b);
        const { id, receipt } = await admitted(a, b);
        await consume(a, b);
        await store.refund({ id, charges: [a], receipt });
        expect([await remaining(a), await remaining(b)]).toEqual([3, 2]);
      });

      it('of all charges on one log gives back what they were merged to', async () => {
        const [budget, other] = [budgetOf({ limit: 9 }), budgetOf({ limit: 9 })];
        const merged = [budget, { ...budget, cost: 4 }];
        const { id, receipt } = await admitted(other, ...merged);
        await store.refund({ id, charges: merged, receipt });
        expect([await remaining(budget), await remaining(other)]).toEqual([9, 8]);
      });

      it('makes the earlier entries count for the reset again', async () => {
        const budget = budgetOf({ windowMs: 1_000 });
        await consume(budget);
        clock.advance(400);
        await store.refund(await admitted(budget));
        expect((await store.peek([budget])).budgets[0]!.resetAfterMs).toBe(600);
      });
    });

    describe('peek and reset', () => {
      it('peek answers what a call would get, and takes nothing', async () => {
        const budget = budgetOf({ limit: 1 });
        expect(await store.peek([budget])).toEqual({
          allowed: true,
          budgets: [{ ...budget, remaining: 1, resetAfterMs: 0 }],
        });
        await consume(budget);
        clock.advance(400);
        const denied = await refused(budget);
        expect(await store.peek([budget])).toEqual(denied);
      });

      it('reset makes the named budgets whole, and no other', async () => {
        const [mine, other] = [budgetOf({ limit: 1 }), budgetOf({ limit: 1 })];
        await consume(mine, other);
        await store.reset([mine]);
        expect([await remaining(mine), await remaining(other)]).toEqual([1, 0]);
      });
    });

    it.each([
      ['no charges', { id: 'ok', charges: [] }, 'charges'],
      ['an id that could be a unit of another call', { id: 'a#2', charges: [budgetOf()] }, 'id'],
      ['an empty id', { id: '', charges: [budgetOf()] }, 'id'],
      ['an empty key', { id: 'ok', charges: [budgetOf({ key: '' })] }, 'key'],
      ['a limit of 0', { id: 'ok', charges: [budgetOf({ limit: 0 })] }, 'limit'],
      ['a limit above 1,000,000,000', { id: 'ok', charges: [charge({ limit: 1_000_000_001 })] }, 'limit'],
      [
        'a limit of an exact log above 10,000',
        { id: 'ok', charges: [charge({ limit: 10_001, layout: 'exact' })] },
        'limit',
      ],
      ['an unknown layout', { id: 'ok', charges: [charge({ layout: 'large' as LogLayout })] }, 'layout'],
      ['half a character in a key', { id: 'ok', charges: [charge({ key: 'a\ud800' })] }, 'key'],
      ['a fractional limit', { id: 'ok', charges: [budgetOf({ limit: 1.5 })] }, 'limit'],
      ['a limit that is no number', { id: 'ok', charges: [budgetOf({ limit: NaN })] }, 'limit'],
      ['a fractional window', { id: 'ok', charges: [budgetOf({ windowMs: 0.5 })] }, 'windowMs'],
      ['an endless window', { id: 'ok', charges: [budgetOf({ windowMs: Infinity })] }, 'windowMs'],
      ['a window above 366 days', { id: 'ok', charges: [budgetOf({ windowMs: 366 * 86_400_000 + 1 })] }, 'windowMs'],
      ['a negative cost', { id: 'ok', charges: [budgetOf({ cost: -1 })] }, 'cost'],
    ])('rejects %s with the name of the field', async (_, request, field) => {
      await expect(store.consume(request)).rejects.toThrow(TypeError);
      await expect(store.consume(request)).rejects.toThrow(field);
    });
  });
}
