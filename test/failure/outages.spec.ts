import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge } from '../../src/core/charge.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { StoreFailureKind } from '../../src/core/errors.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { LimitedProcess } from '../support/limited-process.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';

/** What happens next in a random history; `who` picks the process, `which` among budgets or calls so far. */
type Step =
  | { readonly do: 'wait'; readonly share: number }
  | { readonly do: 'consume'; readonly who: number; readonly which: readonly number[]; readonly cost: number }
  | { readonly do: 'refund'; readonly who: number; readonly which: number }
  | { readonly do: 'link'; readonly who: number; readonly failure: StoreFailureKind | undefined };

const rules = fc.array(
  fc.record({ limit: fc.integer({ min: 1, max: 12 }), windowMs: fc.integer({ min: 5, max: 2_000 }) }),
  { minLength: 1, maxLength: 3 },
);
const wait = fc.record({ do: fc.constant('wait' as const), share: fc.double({ min: 0, max: 1.2, noNaN: true }) });
const consume = fc.record({
  do: fc.constant('consume' as const),
  who: fc.nat(2),
  which: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
  cost: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 13 }) }),
});
const refund = fc.record({ do: fc.constant('refund' as const), who: fc.nat(2), which: fc.nat() });
const link = fc.record({
  do: fc.constant('link' as const),
  who: fc.nat(2),
  failure: fc.constantFrom<StoreFailureKind | undefined>(undefined, 'timeout', 'connection'),
});
const historyOf = (...others: readonly fc.WeightedArbitrary<Step>[]): fc.Arbitrary<Step[]> => {
  const usual = [
    { weight: 3, arbitrary: wait },
    { weight: 12, arbitrary: consume },
  ] as const;
  return fc.array(fc.oneof(...usual, ...others), { minLength: 20, maxLength: 80 });
};
const outages = { weight: 2, arbitrary: link };
const refunds = { weight: 1, arbitrary: refund };

interface Fleet {
  readonly clock: ManualClock;
  readonly budgets: readonly Charge[];
  readonly processes: readonly LimitedProcess[];
}
interface Asked {
  readonly process: LimitedProcess;
  readonly charges: readonly Charge[];
  readonly decision: Decision;
}

const fleetOf = (
  limits: readonly Pick<Charge, 'limit' | 'windowMs'>[],
  size: number,
  instances = 1,
  failure?: StoreFailureKind,
): Fleet => {
  const clock = new ManualClock(1_000_000);
  const shared = new MemoryStore({ now: clock.now });
  const processes = Array.from({ length: size }, () => new LimitedProcess(shared, clock.now, instances));
  for (const process of processes) process.link.failure = failure;
  return { clock, budgets: limits.map((rule) => charge(rule)), processes };
};
const longestOf = (budgets: readonly Charge[]): number => Math.max(...budgets.map(({ windowMs }) => windowMs));

async function play(
  { clock, budgets, processes }: Fleet,
  history: readonly Step[],
  onDecision: (asked: Asked) => void = () => undefined,
): Promise<void> {
  for (const step of history) {
    // Quarters of a millisecond, which a double keeps exactly.
    if (step.do === 'wait') {
      clock.advance(Math.round(step.share * longestOf(budgets) * 4) / 4);
      continue;
    }
    const process = processes[step.who % processes.length]!;
    if (step.do === 'link') process.link.failure = step.failure;
    else if (step.do === 'refund') await process.refund(step.which);
    else {
      const charges = step.which.filter((i) => i < budgets.length).map((i) => ({ ...budgets[i]!, cost: step.cost }));
      if (charges.length > 0) onDecision({ process, charges, decision: await process.consume(charges) });
    }
  }
}

const inAll = (processes: readonly LimitedProcess[], budget: Charge): readonly Admission[] =>
  processes.flatMap((process) => process.admissions(budget));
const most = (admissions: readonly Admission[], { windowMs }: Charge): number =>
  mostAdmittedInAnyWindow(admissions, windowMs);

describe('one process, over random outages, calls and refunds', () => {
  it('admits in no window more than the limit', async () => {
    const property = fc.asyncProperty(rules, historyOf(outages, refunds), async (limits, history) => {
      const fleet = fleetOf(limits, 1);
      await play(fleet, history);
      for (const budget of fleet.budgets) {
        expect(most(inAll(fleet.processes, budget), budget)).toBeLessThanOrEqual(budget.limit);
      }
    });
    await fc.assert(property, { numRuns: 400 });
  });

  it('refuses in an outage only what a window longer by an eighth has no room for', async () => {
    const property = fc.asyncProperty(rules, historyOf(outages), async (limits, history) => {
      const fleet = fleetOf(limits, 1);
      const hasRoom = (process: LimitedProcess, budget: Charge): boolean => {
        const horizon = fleet.clock.now() - (budget.windowMs * 9) / 8 - 0.01;
        const recent = process.admissions(budget).filter(({ at }) => at > horizon);
        return recent.reduce((sum, { units }) => sum + units, budget.cost) <= budget.limit;
      };
      await play(fleet, history, ({ process, charges, decision }) => {
        if (process.link.failure === undefined || decision.allowed) return;
        expect(charges.every((each) => hasRoom(process, each))).toBe(false);
      });
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it('decides as the store does when the outage is over for as long as the longest window', async () => {
    const property = fc.asyncProperty(rules, historyOf(outages, refunds), async (limits, history) => {
      const fleet = fleetOf(limits, 1);
      let failedAt = -Infinity;
      await play(fleet, history, ({ process, decision }) => {
        const now = fleet.clock.now();
        if (process.link.failure !== undefined) failedAt = now;
        if (now - failedAt < longestOf(fleet.budgets)) return;
        const { receipt, ...own } = { receipt: undefined, ...decision };
        expect(own).toEqual(process.link.decision);
        expect(receipt === undefined).toBe(!decision.allowed);
      });
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

describe('several processes on one store, over random outages', () => {
  const sizes = fc.integer({ min: 2, max: 3 });

  it('admit together in no window more than the limit while they reach the store', async () => {
    const property = fc.asyncProperty(rules, sizes, historyOf(refunds), async (limits, size, history) => {
      const { processes, ...fleet } = fleetOf(limits, size);
      await play({ processes, ...fleet }, history);
      for (const budget of fleet.budgets) {
        expect(most(inAll(processes, budget), budget)).toBeLessThanOrEqual(budget.limit);
      }
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it('admit in no window more than the limit each, whoever of them reaches the store', async () => {
    const property = fc.asyncProperty(rules, sizes, historyOf(outages, refunds), async (limits, size, history) => {
      const { processes, ...fleet } = fleetOf(limits, size);
      await play({ processes, ...fleet }, history);
      for (const budget of fleet.budgets) {
        for (const process of processes) {
          expect(most(process.admissions(budget), budget)).toBeLessThanOrEqual(budget.limit);
        }
        expect(most(inAll(processes, budget), budget)).toBeLessThanOrEqual(size * budget.limit);
      }
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it('admit together in no window of an outage more than the limit when they know how many they are', async () => {
    const failures = fc.constantFrom<StoreFailureKind>('timeout', 'connection');
    const histories = fc.tuple(historyOf(refunds), historyOf(refunds));
    const property = fc.asyncProperty(rules, sizes, failures, histories, async (limits, size, failure, parts) => {
      const { processes, ...fleet } = fleetOf(limits, size, size);
      await play({ processes, ...fleet }, parts[0]);
      const begunAt = fleet.clock.now();
      for (const process of processes) process.link.failure = failure;
      await play({ processes, ...fleet }, parts[1]);
      for (const budget of fleet.budgets) {
        const admissions = processes.flatMap((process) => process.admissions(budget));
        const inOutage = admissions.filter(({ at }) => at > begunAt);
        // Nobody's share is less than one unit.
        expect(most(inOutage, budget)).toBeLessThanOrEqual(Math.max(budget.limit, size));
      }
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
