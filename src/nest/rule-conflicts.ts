import type { Rule } from './rule.ts';
import { ruleKey } from './rule-key.ts';

const named = ({ writtenOn, label }: Rule): string => `${writtenOn} (${label})`;

/** Rules that would share a budget without saying so, and rules of one bucket that cannot share it. */
export function ruleConflicts(rules: Iterable<Rule>): readonly string[] {
  const faults: string[] = [];
  const standing = new Map<string, Rule>();
  const buckets = new Map<string, Rule>();
  for (const rule of rules) {
    const { kind, place, windowMs, isBucket } = rule;
    if (isBucket) {
      const other = buckets.get(place);
      if (other && (other.windowMs !== windowMs || other.kind !== kind)) {
        faults.push(`${named(rule)} and ${named(other)} share the ${place}, but not window and kind of identity`);
      }
      buckets.set(place, rule);
    } else if (typeof windowMs === 'number') {
      const budget = `${ruleKey(rule, { kind, value: '' })}:${windowMs}`;
      const other = standing.get(budget);
      if (other) {
        faults.push(
          `${named(rule)} and ${named(other)} limit the same identity at "${place}" over the same window: ` +
            'give them different names, or one bucket',
        );
      }
      standing.set(budget, rule);
    }
  }
  return faults;
}
