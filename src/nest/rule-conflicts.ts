import { isAffordable } from '../core/charge.ts';
import { isSameWarmUp } from '../core/warm-up.ts';
import { isSameBlock } from './block-option.ts';
import { isEverEnforced, isEverInShadow } from './enforced-share.ts';
import type { Rule } from './rule.ts';
import { ruleKey } from './rule-key.ts';

/** Whether both may charge the enforced log, or both the one in shadow. */
const mayMeet = (rule: Rule, other: Rule): boolean =>
  (isEverEnforced(rule) && isEverEnforced(other)) || (isEverInShadow(rule) && isEverInShadow(other));

const named = ({ writtenOn, label }: Rule): string => `${writtenOn} (${label})`;

/** Rules that would share a budget without saying so, and rules of one bucket that cannot share it. */
export function ruleConflicts(rules: Iterable<Rule>): readonly string[] {
  const faults: string[] = [];
  const standing = new Map<string, readonly Rule[]>();
  for (const rule of rules) {
    const { kind, place, windowMs, warmUp, isBucket } = rule;
    const budget = isBucket ? place : ruleKey(rule, { kind, value: '' });
    const others = standing.get(budget) ?? [];
    standing.set(budget, [...others, rule]);
    const clashes = (other: Rule): boolean =>
      mayMeet(rule, other) &&
      (isBucket
        ? other.windowMs !== windowMs || other.kind !== kind || !isSameBlock(other.block, rule.block)
        : other.windowMs === windowMs);
    const climber = others.find((other) => isBucket && mayMeet(rule, other) && !isSameWarmUp(other.warmUp, warmUp));
    if (climber) faults.push(`${named(rule)} and ${named(climber)} share the ${place}, but not the warm-up`);
    const other = others.find(clashes);
    if (!other) continue;
    faults.push(
      isBucket
        ? `${named(rule)} and ${named(other)} share the ${place}, but not window, kind of identity and block`
        : `${named(rule)} and ${named(other)} limit the same identity at "${place}" over the same window: ` +
            'give them different names, or one bucket',
    );
  }
  return faults;
}

/** Rules of one bucket on one handler are judged in one call, by the smallest limit and the largest cost. */
export function bucketConflicts(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap((rule, i) =>
    rules.slice(i + 1).flatMap((other) => {
      if (!rule.isBucket || rule.place !== other.place || !mayMeet(rule, other)) return [];
      const both = `${named(rule)} and ${named(other)} share the ${rule.place} on one handler`;
      if (rule.when !== other.when) return [`${both}, but not the moment (when): it would be charged twice`];
      const costs = [rule.cost, other.cost].filter((cost) => typeof cost === 'number');
      const limits = [rule.limit, other.limit].filter((limit) => typeof limit === 'number');
      const isPassable = isAffordable({
        cost: Math.max(...costs, 0),
        limit: Math.min(...limits, Infinity),
        layout: rule.layout ?? other.layout,
        warmUp: rule.warmUp,
      });
      return isPassable ? [] : [`${both}, and one costs more than the other admits: no request would pass`];
    }),
  );
}
