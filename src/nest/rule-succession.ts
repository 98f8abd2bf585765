import type { Rule } from './rule.ts';

/** A rule that another one has taken the place of, whose windows are not over yet. */
export interface FormerRule {
  readonly rule: Rule;
  /** Until then it is judged besides: milliseconds of this process. */
  readonly until: number;
}

/** What holds in the place of a rule that was written. */
export interface RuleInForce {
  readonly rule: Rule;
  readonly formers: readonly FormerRule[];
  /**
   * Where its window was that of a former rule before, it is judged until then, whatever takes the place of this rule:
   * milliseconds of this process, or NEVER.
   */
  readonly heldUntil: number;
}

export const NEVER = -Infinity;

/** A rule that took nobody's place. */
export const aloneInForce = (rule: Rule): RuleInForce => ({ rule, formers: [], heldUntil: NEVER });

/** So many logs besides its own are charged for a rule whose window changes again and again. */
export const MAX_FORMERS = 3;

/**
 * Another rule takes the place of this one. With the same window it goes on with the same log. Otherwise its log is
 * empty, so the one before is judged besides until every window of either length ends before, or began after everybody
 * had the new rule: until the longer of the two has passed since. Of one window the last rule holds.
 *
 * @param at when it did, milliseconds of this process
 * @param spreadMs so long it may take until it has everywhere
 * @returns the formers that last longest, if they are too many
 */
export function succeed(inForce: RuleInForce, next: Rule, at: number, spreadMs: number): RuleInForce {
  const { rule, formers, heldUntil } = inForce;
  if (next.windowMs === rule.windowMs) return { ...inForce, rule: next };
  const longestMs = Math.max(next.windowMs as number, rule.windowMs as number);
  const ofNext = formers.find((former) => former.rule.windowMs === next.windowMs);
  const others = formers.filter((former) => former !== ofNext);
  const all = [...others, { rule, until: Math.max(heldUntil, at + spreadMs + longestMs) }];
  return {
    rule: next,
    formers: all.sort((a, b) => b.until - a.until).slice(0, MAX_FORMERS),
    heldUntil: ofNext?.until ?? NEVER,
  };
}
