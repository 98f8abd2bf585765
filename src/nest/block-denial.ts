import { logName, type Charge } from '../core/charge.ts';
import { denialBy, type Budget, type Denied, type Refusal } from '../core/decision.ts';
import type { BlockCharges } from './block-charges.ts';

/** Whether the budget is that of this charge, by what a decision carries back. */
export const isOf = (charge: Charge, budget: Budget): boolean =>
  budget.limit === charge.limit && budget.rule === charge.rule && logName(budget) === logName(charge);

/** The refusal of this charge, if it is among those. */
export const refusalIn = ({ refusedBy }: Denied, charge: Charge): Refusal | undefined =>
  refusedBy.find((refusal) => isOf(charge, refusal));

/**
 * A denial in terms of the rules: where one blocks, its own budget refuses, until both it and the block have room. Until
 * then nothing of the budget can be had, and so none is left.
 *
 * @param charges of the rules, in their order
 * @param blockedMs how long the rule of these charges blocks from now on, milliseconds; undefined where it does not
 */
export function denialOfRules(
  denied: Denied,
  charges: readonly Charge[],
  blockedMs: ReadonlyMap<BlockCharges, number | undefined>,
): Denied {
  const blocked = new Map<Charge, Refusal>();
  for (const [{ own }, ms] of blockedMs) if (ms !== undefined) blocked.set(own, blockRefusal(denied, own, ms));
  const budgets = charges.flatMap(
    (charge): Budget[] => one(blocked.get(charge)) ?? one(denied.budgets.find((budget) => isOf(charge, budget))) ?? [],
  );
  const refusals = charges.flatMap((charge): Refusal[] => one(blocked.get(charge) ?? refusalIn(denied, charge)) ?? []);
  const { decidedBy } = denied;
  return { ...denialBy(refusals, budgets)!, ...(decidedBy && { decidedBy }) };
}

function blockRefusal(denied: Denied, own: Charge, ms: number): Refusal {
  const refused = refusalIn(denied, own);
  const resetAfterMs = denied.budgets.find((budget) => isOf(own, budget))?.resetAfterMs ?? 0;
  const told = { ...own, remaining: 0, resetAfterMs: Math.max(resetAfterMs, ms), isBlock: true } as const;
  // What is never admitted is not admitted after the block either.
  if (refused && refused.retryAfterMs === undefined) return told;
  return { ...told, retryAfterMs: Math.max(refused?.retryAfterMs ?? 0, ms) };
}

const one = <T>(value: T | undefined): [T] | undefined => (value === undefined ? undefined : [value]);
