import type { RateLimitOptions } from './rate-limit-options.ts';

/** Clean numbers in text, as the environment gives them, count as numbers. */
function percentOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= 100 ? number : undefined;
}

export const percentFault = (value: unknown): string | undefined =>
  percentOf(value) === undefined ? 'must be a number from 0 to 100' : undefined;

/** What is wrong with `enforcePercent` beside the other options of a rule; `complete` has the defaults too. */
export function enforcedShareFault(
  { mode, enforcePercent }: RateLimitOptions,
  { key, type }: RateLimitOptions,
): string | undefined {
  if (enforcePercent === undefined) return undefined;
  if (mode === 'shadow') return "excludes mode 'shadow', which enforces nothing";
  return !key && type === 'METHOD' ? 'is a share of identities, and a METHOD rule has one only' : undefined;
}

/** The percentage of identities that a rule is enforced for. */
export function enforcedShareOf({ mode, enforcePercent }: RateLimitOptions): number {
  return percentOf(enforcePercent) ?? (mode === 'shadow' ? 0 : 100);
}
