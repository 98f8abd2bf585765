import type { Budget, Denied } from '../core/decision.ts';

/** Header fields by name. */
export type HeaderFields = Readonly<Record<string, string>>;

/** Every field that answers may carry: for the `exposedHeaders` of CORS, without which browsers hide them. */
export const RATE_LIMIT_HEADERS: readonly string[] = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** Whole seconds of RFC 9110, section 10.2.3 (delta-seconds), rounded up: whoever waits so long is not early. */
export const wholeSeconds = (ms: number): number => Math.ceil(ms / 1_000);

/**
 * The fields that most clients know, from the budget that binds most: the one with the fewest units left, and the
 * longest reset among equals. `X-RateLimit-Reset` counts seconds until that budget is whole again.
 */
export function legacyHeaders(budgets: readonly Budget[]): HeaderFields {
  const [first, ...others] = budgets;
  if (!first) return {};
  const { limit, remaining, resetAfterMs } = others.reduce((tightest, budget) => {
    const difference = budget.remaining - tightest.remaining || tightest.resetAfterMs - budget.resetAfterMs;
    return difference < 0 ? budget : tightest;
  }, first);
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(wholeSeconds(resetAfterMs)),
  };
}

/** When to come back, in whole seconds, at least one; undefined when no waiting helps. */
export const retryAfterSeconds = ({ retryAfterMs }: Pick<Denied, 'retryAfterMs'>): number | undefined =>
  retryAfterMs === undefined ? undefined : Math.max(1, wholeSeconds(retryAfterMs));

/** RFC 9110, section 10.2.3; nothing when no waiting helps. */
export function retryAfterHeader(denied: Pick<Denied, 'retryAfterMs'>): HeaderFields {
  const seconds = retryAfterSeconds(denied);
  return seconds === undefined ? {} : { 'Retry-After': String(seconds) };
}
