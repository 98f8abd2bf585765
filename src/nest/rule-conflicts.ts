import { isAffordable } from '../core/charge.ts';
import type { Rule } from './rule.ts';
import { ruleKey } from './rule-key.ts';

const named = ({ writtenOn, label }: Rule): string => `${writtenOn} (${label})`;

/** Rules that would share a budget without saying so, and rules of one bucket that cannot share it. */
export function ruleConflicts(rules: Iterable<Rule>): readonly string[] {
  const faults: string[] = [];
  const standing = new Map<string, readonly Rule[]>();
  for (const rule of rules) {
    const { kind, place, windowMs, isBucket } = rule;
    const budget = isBucket ? place : ruleKey(rule, { kind, value: '' });
    const others = standing.get(budget) ?? [];
    standing.set(budget, [...others, rule]);
    const clashes = (other: Rule): boolean =>
      isBucket ? other.windowMs !== windowMs || other.kind !== kind : other.windowMs === windowMs;
    const other = others.find(clashes);
    if (!other) continue;
    faults.push(
      isBucket
        ? `${named(rule)} and ${named(other)} share the ${place}, but not window and kind of identity`
        : `${named(rule)} and ${named(other)} limit the same identity at "${place}" over the same window: ` +
            'give them different names, or one bucket',
    );
  }
  return faults;
}

/** Rules of one bucket on one handler are judged together, by the smallest limit and the largest cost. */
export function unaffordableTogether(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap((dear) =>
    rules.flatMap((tight) => {
      const isShared = dear !== tight && dear.isBucket && dear.place === tight.place;
      if (!isShared || typeof dear.cost !== 'number' || typeof tight.limit !== 'number') return [];
      if (isAffordable({ cost: dear.cost, limit: tight.limit })) return [];
      return [
        `${named(dear)} costs more than ${named(tight)} admits in their ${dear.place}: no request would pass both`,
      ];
    }),
  );
}
