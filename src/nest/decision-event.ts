import { createHash } from 'node:crypto';
import { logName } from '../core/charge.ts';
import type { Budget, Decision, DecisionSubstitute, Refusal } from '../core/decision.ts';
import type { RuleCharge } from './rule-charges.ts';

/**
 * What a rule did. `allowed`: it took its units. `refused`: it had no room. `fallback-allowed` and `fallback-refused`:
 * the same while the store could not decide, by the rule's policy in `onStoreError`. `blocked`: it refused by its `block`,
 * whoever decided so. `shadow-allowed` and `shadow-refused`: what it would have done if it were enforced.
 */
export type DecisionOutcome =
  'allowed' | 'refused' | 'fallback-allowed' | 'fallback-refused' | 'blocked' | 'shadow-allowed' | 'shadow-refused';

/** What one rule did with one call. */
export interface DecisionEvent {
  /** The rule's name, or one derived from its numbers: `10-per-10s`. */
  readonly rule: string;
  /** What the rule limits: `POST /login`, `bucket mail`. */
  readonly place: string;
  /** What it did. */
  readonly outcome: DecisionOutcome;
  /** What decided: the store, or what did in its place. */
  readonly source: 'store' | DecisionSubstitute;
  /** Units that it admits in any window. */
  readonly limit: number;
  /** Units that the call took, or would have taken. */
  readonly cost: number;
  /** Units left after the decision; undefined where nothing is known of the budget. */
  readonly remaining: number | undefined;
  /** Whether the call was admitted with a fifth of the limit left, or less. */
  readonly isNearLimit: boolean;
  /**
   * Milliseconds that the decision took; rules that are decided together take them together. Of a call that waits for
   * its turn, with the wait.
   */
  readonly latencyMs: number;
  /**
   * Whose budget it is: equal for equal identities. The first 16 characters of a hash in base64url, unless the module has
   * `decisionIdentities: 'plain'`: then as keys have it, `ip:203.0.113.7`.
   */
  readonly identity: string;
}

/** Makes the text that stands for an identity in events, given it as keys have it. */
export type IdentityWriter = (identity: string) => string;

const HASH_LENGTH = 16;

export const hashedIdentity: IdentityWriter = (identity) =>
  createHash('sha256').update(identity).digest('base64url').slice(0, HASH_LENGTH);

export const plainIdentity: IdentityWriter = (identity) => identity;

/** So much of the limit, or less, is left where a budget is near it. */
const NEAR_LIMIT = 0.2;

/** What an event tells besides what its charge does. */
interface Course {
  readonly verdict: 'allowed' | 'refused';
  readonly isFallback: boolean;
  readonly source: DecisionEvent['source'];
  readonly latencyMs: number;
}

/** The event of one charge; its identity is written when somebody asks for it. */
function eventOf(
  { rule, charge: { key, limit, cost }, isShadow }: RuleCharge,
  budget: (Budget & Pick<Refusal, 'isBlock'>) | undefined,
  { verdict, isFallback, source, latencyMs }: Course,
  writeIdentity: IdentityWriter,
): DecisionEvent {
  const remaining = budget?.remaining;
  const outcome: DecisionOutcome = isShadow ? `shadow-${verdict}` : isFallback ? `fallback-${verdict}` : verdict;
  return {
    rule: rule.label,
    place: rule.place,
    outcome: budget?.isBlock && !isShadow ? 'blocked' : outcome,
    source,
    limit,
    cost,
    remaining,
    isNearLimit: verdict === 'allowed' && remaining !== undefined && remaining <= limit * NEAR_LIMIT,
    latencyMs,
    get identity() {
      return writeIdentity(identityOf(key));
    },
  };
}

/** Keys begin with their identity in braces, which none has in itself. */
const identityOf = (key: string): string => key.slice(1, key.indexOf('}'));

/**
 * The events of a decision: of every rule where it admitted, of those that refused otherwise. Rules that had room in a
 * refused call took nothing, and have none.
 */
export function eventsOf(
  charged: readonly RuleCharge[],
  decision: Decision,
  latencyMs: number,
  writeIdentity: IdentityWriter,
): readonly DecisionEvent[] {
  const { allowed, decidedBy, budgets } = decision;
  const judged: readonly (Budget & Pick<Refusal, 'isBlock'>)[] = allowed ? budgets : decision.refusedBy;
  const isFallback = decidedBy === 'local' || decidedBy === 'policy';
  const verdict = allowed ? 'allowed' : 'refused';
  const course: Course = { verdict, isFallback, source: decidedBy ?? 'store', latencyMs };
  const isJudged = (ruleCharge: RuleCharge): boolean => judged.some((other) => isSame(other, ruleCharge));
  return oncePerRule(allowed ? charged : charged.filter(isJudged)).map((ruleCharge) => {
    const budget = judged.find((other) => isSame(other, ruleCharge));
    return eventOf(ruleCharge, budget, course, writeIdentity);
  });
}

/** The events of a call that the failure policy `'deny'` refused, since the store could not decide. */
export const eventsOfFailure = (
  charged: readonly RuleCharge[],
  latencyMs: number,
  writeIdentity: IdentityWriter,
): readonly DecisionEvent[] =>
  oncePerRule(charged).map((ruleCharge) =>
    eventOf(
      ruleCharge,
      undefined,
      { verdict: 'refused', isFallback: true, source: 'policy', latencyMs },
      writeIdentity,
    ),
  );

const isSame = (budget: Budget, { charge }: RuleCharge): boolean =>
  budget.limit === charge.limit && budget.rule === charge.rule && logName(budget) === logName(charge);

/** While its window changes, a rule has several charges; that of the rule in force comes first. */
const oncePerRule = (charged: readonly RuleCharge[]): readonly RuleCharge[] =>
  charged.filter(({ rule }, i) => charged.findIndex((other) => other.rule === rule) === i);
