import type { Budget, Denied } from '../core/decision.ts';
import { wholeSeconds, type HeaderFields } from './rate-limit-headers.ts';

/** A partition key for a budget: bytes in base64 that do not tell whose budget it is. */
export type PartitionKey = (budget: Budget) => string;

/** Structured Fields (RFC 9651, section 3.3.1) know integers of at most 15 digits. */
const LARGEST = 999_999_999_999_999;
const integer = (value: number): string => String(Math.min(value, LARGEST));

/** A String of RFC 9651, section 3.3.3: printable ASCII, with quotes and backslashes escaped. */
const string = (text: string): string => `"${text.replace(/[^ -~]/g, '?').replace(/["\\]/g, '\\$&')}"`;

/** The name of each budget's policy, told apart where rules have none of their own and look alike. */
function policyNames(budgets: readonly Budget[]): readonly string[] {
  const times = new Map<string, number>();
  return budgets.map(({ rule = 'default' }) => {
    const time = (times.get(rule) ?? 0) + 1;
    times.set(rule, time);
    return string(time === 1 ? rule : `${rule}-${time}`);
  });
}

/**
 * `RateLimit-Policy` and `RateLimit` as draft-ietf-httpapi-ratelimit-headers-11 writes them: one item for each budget,
 * with the quota `q`, the window `w` in seconds (rounded up: there is no form for less than one), the units left `r` and
 * the seconds `t` until the budget is whole again, which never point beyond `Retry-After`.
 */
export function draftHeaders(budgets: readonly Budget[], denied?: Denied, partitionKey?: PartitionKey): HeaderFields {
  if (budgets.length === 0) return {};
  const names = policyNames(budgets);
  const list = (parameters: (budget: Budget) => string): string =>
    budgets
      .map((budget, i) => `${names[i]};${parameters(budget)}${partitionKey ? `;pk=:${partitionKey(budget)}:` : ''}`)
      .join(', ');
  const latestMs = denied?.retryAfterMs ?? Infinity;
  return {
    'RateLimit-Policy': list(({ limit, windowMs }) => `q=${integer(limit)};w=${integer(wholeSeconds(windowMs))}`),
    RateLimit: list(
      ({ remaining, resetAfterMs }) =>
        `r=${integer(remaining)};t=${integer(wholeSeconds(Math.min(resetAfterMs, latestMs)))}`,
    ),
  };
}
