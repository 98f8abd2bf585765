import { MAX_EXACT_LIMIT, maxCostOf } from '../core/charge.ts';
import { show } from '../core/show.ts';
import type { Rule } from './rule.ts';
import type { NumberFault, RuleNumber } from './rule-number.ts';
import { tiersOf } from './rule-numbers.ts';

type Numbers = Pick<Rule, 'limit' | 'cost' | 'layout'>;

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
export function limitFaults({ limit, cost, layout }: Numbers): readonly NumberFault[] {
  const named = (what: string, tier: string | undefined): string =>
    tier === undefined ? what : `${what} of tier ${show(tier)}`;
  const tooLarge = layout === 'exact' ? possible(limit).filter(({ value }) => value > MAX_EXACT_LIMIT) : [];
  if (tooLarge.length > 0) {
    const rule = `must not be above ${MAX_EXACT_LIMIT} where exact is true`;
    return tooLarge.map(({ value, tier }) => ({ what: named('limit', tier), value, rule }));
  }
  // Tiers of two functions are tiers of two kinds: nobody knows which of them meet.
  const [limitTiers, costTiers] = [tiersOf(limit), tiersOf(cost)];
  if (limitTiers && costTiers && limitTiers.tierOf !== costTiers.tierOf) return [];
  return possible(limit).flatMap((most) => {
    const maxCost = maxCostOf({ limit: most.value, layout });
    const itsLimit = `the limit of ${named(String(most.value), most.tier)}`;
    const border = maxCost === most.value ? itsLimit : `${maxCost} where exact is true`;
    return possible(cost)
      .filter(({ value, tier }) => value > maxCost && (!limitTiers || !costTiers || tier === most.tier))
      .map(({ value, tier }) => ({
        what: named('cost', tier),
        value,
        rule: `must not be above ${border}: no request would ever be admitted`,
      }));
  });
}
