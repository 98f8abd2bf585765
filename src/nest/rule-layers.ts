import type { Rule } from './rule.ts';
import type { RuleMetadata } from './rule-metadata.ts';

/** What stands at one place on the way to a handler. */
export interface Layer {
  /** For messages: the class, or class and method. */
  readonly writtenOn: string;
  readonly rules: readonly Rule[];
  readonly metadata: Omit<RuleMetadata, 'rules'>;
}

/**
 * The rules that apply where these layers meet, from the outermost (the application) to the innermost (the method):
 * all of them, but for what a layer skips or replaces of those further out.
 */
export function applicableRules(layers: readonly Layer[], fault: (message: string) => void): readonly Rule[] {
  let applicable: readonly Rule[] = [];
  for (const { writtenOn, rules, metadata } of layers) {
    const { only, skipsAll, skipped } = metadata;
    if (only && (skipsAll || skipped.length > 0)) {
      fault(`${writtenOn}: @RateLimit.only and @SkipRateLimit stand beside each other: only skips everything already`);
    }
    for (const name of skipped) {
      if (!applicable.some((rule) => rule.name === name)) {
        fault(`${writtenOn}: @SkipRateLimit(${JSON.stringify(name)}) names no rule that stands further out`);
      }
    }
    const kept = only || skipsAll ? [] : applicable.filter(({ name }) => !name || !skipped.includes(name));
    applicable = [...kept, ...rules];
  }
  return applicable;
}
