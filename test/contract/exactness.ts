import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge, LogLayout } from '../../src/core/charge.ts';
import type { Denied } from '../../src/core/decision.ts';
import type { RefundRequest } from '../../src/core/rate-limit-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { WindowModel } from '../support/window-model.ts';
import { charge, type CreateStore } from './store-contract.ts';

/** What happens next in a random history; `which` picks among the rules or the calls so far. */
type Step =
  | { readonly do: 'wait'; readonly share: number }
  | { readonly do: 'consume'; readonly which: readonly number[]; readonly cost: number }
  | { readonly do: 'repeat' | 'refund'; readonly which: number };

const rules = fc.array(
  fc.record({ limit: fc.integer({ min: 1, max: 12 }), windowMs: fc.integer({ min: 5, max: 2_000 }) }),
  { minLength: 1, maxLength: 3 },
);
/** Of the longest window; often about as long as it, where slices make a difference. */
const shares = fc.oneof(
  { weight: 3, arbitrary: fc.double({ min: 0, max: 1.2, noNaN: true }) },
  { weight: 1, arbitrary: fc.double({ min: 0.98, max: 1.02, noNaN: true }) },
);
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('wait' as const), share: shares }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('consume' as const),
        which: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
        cost: fc.oneof(
          { weight: 4, arbitrary: fc.constant(1) },
          { weight: 2, arbitrary: fc.integer({ min: 1, max: 14 }) },
          { weight: 1, arbitrary: fc.constant(0) },
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('refund' as const), which: fc.nat() }) },
  ),
  { minLength: 10, maxLength: 60 },
) satisfies fc.Arbitrary<Step[]>;

interface Call {
  readonly id: string;
  readonly charges: readonly Charge[];
}

/** Random histories, answered by the store and by brute force; `runs` of them. */
export function describeExactness(name: string, create: CreateStore, runs: number, layout: LogLayout = 'exact'): void {
  describe(`${name}, ${layout}, over random limits, windows, costs, arrivals, repetitions and refunds`, () => {
    it('admits what its window admits, refuses what it refuses, and never exceeds a limit', async () => {
      await fc.assert(
        fc.asyncProperty(rules, steps, async (limits, history) => {
          const { model, budgets } = await replay(create, layout, limits, history);
          for (const budget of budgets) expect(model.most(budget)).toBeLessThanOrEqual(budget.limit);
        }),
        { numRuns: runs },
      );
    });

    it('refuses until retryAfterMs − 1, and admits at retryAfterMs', async () => {
      await fc.assert(
        fc.asyncProperty(rules, steps, fc.integer({ min: 0, max: 12 }), async (limits, history, cost) => {
          const { store, clock, budgets } = await replay(create, layout, limits, history);
          const charging = (units: number): readonly Charge[] =>
            budgets.map((budget) => ({ ...budget, cost: Math.min(units, budget.limit) }));
          const ask = (units: number) => store.consume({ id: nextId(), charges: charging(units) });
          while ((await ask(Math.max(1, cost))).allowed);
          const refusal = (await ask(cost)) as Denied;
          clock.advance(refusal.retryAfterMs! - 1);
          expect((await ask(cost)).allowed).toBe(false);
          clock.advance(1);
          expect((await ask(cost)).allowed).toBe(true);
        }),
        { numRuns: runs },
      );
    });
  });
}

let ids = 0;
const nextId = (): string => `x${ids++}`;

async function replay(
  create: CreateStore,
  layout: LogLayout,
  limits: readonly { limit: number; windowMs: number }[],
  history: readonly Step[],
) {
  const clock = new ManualClock(1_000_000);
  const store = create(clock.now);
  const model = new WindowModel();
  const budgets = limits.map((rule) => charge({ ...rule, cost: 1, layout }));
  const longest = Math.max(...budgets.map(({ windowMs }) => windowMs));
  const admitted: RefundRequest[] = [];

  const consume = async (call: Call): Promise<void> => {
    const expected = model.consume(call.id, call.charges, clock.now());
    const decision = await store.consume(call);
    expect(decision.allowed).toBe(expected);
    expect(decision.budgets.map(({ remaining }) => remaining)).toEqual(
      call.charges.map((each) => model.remaining(each, clock.now())),
    );
    if (decision.allowed) admitted.push({ ...call, receipt: decision.receipt });
  };

  for (const step of history) {
    if (step.do === 'wait') {
      // Quarters of a millisecond, which a double keeps exactly.
      clock.advance(Math.round(step.share * longest * 4) / 4);
    } else if (step.do === 'consume') {
      const chosen = step.which.filter((i) => i < budgets.length).map((i) => ({ ...budgets[i]!, cost: step.cost }));
      if (chosen.length > 0) await consume({ id: nextId(), charges: chosen });
    } else if (admitted.length > 0) {
      const i = step.which % admitted.length;
      const call = admitted[i]!;
      if (step.do === 'repeat') {
        if (layout === 'exact') await consume(call);
      } else {
        model.refund(call.id, call.charges);
        await store.refund(call);
        // A refunded id is not used again.
        for (let j = admitted.length - 1; j >= 0; j--) if (admitted[j]!.id === call.id) admitted.splice(j, 1);
      }
    }
  }
  return { store, model, clock, budgets };
}
