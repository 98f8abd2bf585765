import { maxCostOf, maxExactLimit } from '../core/charge.ts';
import { show } from '../core/show.ts';
import type { Rule } from './rule.ts';
import type { NumberFault, RuleNumber } from './rule-number.ts';
import { tiersOf } from './rule-numbers.ts';
import { exactBorder } from './warm-up-option.ts';

type Numbers = Pick<Rule, 'limit' | 'cost' | 'layout' | 'warmUp'>;

/** A value that a number may have, and what the tier is called that has it. */
interface Possible {
  readonly value: number;
  readonly tier: string | undefined;
}

/** None where a function gives any. */
function possible(number: RuleNumber): readonly Possible[] {
  if (typeof number === 'number') return [{ value: number, tier: undefined }];
  return [...(tiersOf(number)?.numbers ?? [])].map(([tier, value]) => ({ value, tier }));
}

/** Limits that the layout cannot keep, and costs that no request would ever be admitted with, as far as they are known. */
export function limitFaults({ limit, cost, layout, warmUp }: Numbers): readonly NumberFault[] {
  const named = (what: string, tier: string | undefined): string =>
    tier === undefined ? what : `${what} of tier ${show(tier)}`;
  const tooLarge = layout === 'exact' ? possible(limit).filter(({ value }) => value > maxExactLimit(warmUp)) : [];
  if (tooLarge.length > 0) {
    const rule = `must not be above ${exactBorder(warmUp)}`;
    return tooLarge.map(({ value, tier }) => ({ what: named('limit', tier), value, rule }));
  }
  // Tiers of two functions are tiers of two kinds: nobody knows which of them meet.
  const [limitTiers, costTiers] = [tiersOf(limit), tiersOf(cost)];
  if (limitTiers && costTiers && limitTiers.tierOf !== costTiers.tierOf) return [];
  return possible(limit).flatMap((most) => {
    const maxCost = maxCostOf({ limit: most.value, layout, warmUp });
    const itsLimit = `the limit of ${named(String(most.value), most.tier)}`;
    const lower = warmUp ? `${maxCost}, the limit of a cold start by warmUp` : `${maxCost} where exact is true`;
    const border = maxCost === most.value ? itsLimit : lower;
    return possible(cost)
      .filter(({ value, tier }) => value > maxCost && (!limitTiers || !costTiers || tier === most.tier))
      .map(({ value, tier }) => ({
        what: named('cost', tier),
        value,
        rule: `must not be above ${border}: no request would ever be admitted`,
      }));
  });
}
