import { MAX_EXACT_COST, maxExactLimit, type LogLayout } from '../core/charge.ts';
import type { WarmUp } from '../core/warm-up.ts';

/** How a request ended. */
export interface Outcome {
  /**
   * Whether the handler, one of its pipes or a guard failed, or the status of the answer is 400 or above. What a filter
   * or an outer interceptor made of it does not count: a guard's 401 in an envelope with status 200 is a failure.
   */
  readonly failed: boolean;
  /**
   * The status of the answer. Where none was sent, since the client had left, that of the error, if it has one;
   * undefined otherwise.
   */
  readonly status?: number | undefined;
  /** What the handler or one of its pipes threw. That of a guard is not known, only the status that became of it. */
  readonly error?: unknown;
}

/**
 * Which requests a rule counts, by how they ended: all, those that failed, those that succeeded, or those for which the
 * function gives true.
 */
export type OutcomeCount = 'all' | 'failed' | 'succeeded' | ((outcome: Outcome) => boolean);

/** Whether a request that ended so stays charged. @throws TypeError when the function of the rule gives nonsense, and what it throws */
export function isCounted(count: OutcomeCount, outcome: Outcome): boolean {
  if (typeof count === 'function') return answerOf(count, outcome);
  return count === 'all' || (count === 'failed') === outcome.failed;
}

/**
 * The layout of a rule's log where the rule says none: exact, if that is possible, for rules that give back much. A
 * compact log has to remember each call that was given back for a window, however many there are.
 */
export function layoutFor(count: OutcomeCount, limit: unknown, cost: unknown, warmUp?: WarmUp): LogLayout | undefined {
  if (count === 'all' || typeof limit !== 'number' || typeof cost !== 'number') return undefined;
  return limit <= maxExactLimit(warmUp) && cost <= MAX_EXACT_COST ? 'exact' : undefined;
}

function answerOf(count: (outcome: Outcome) => unknown, outcome: Outcome): boolean {
  const answer = count(outcome);
  if (typeof answer === 'boolean') return answer;
  // A promise is none, and must not end the process if it is rejected.
  void Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(`it gave ${typeof answer}, not true or false`);
}
