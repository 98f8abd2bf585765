import { maxExactLimit } from '../core/charge.ts';
import { parseDuration, type Duration } from '../core/duration.ts';
import { MAX_COLD_FACTOR, type WarmUp } from '../core/warm-up.ts';

/** How a limit climbs after a cold start or idleness, where the default of how low it begins does not fit. */
export interface WarmUpOptions {
  /** In so long the limit is reached, if it is used up: seconds as a number, or `'500ms'`, `'30s'`, `'5m'`. */
  readonly over: Duration;
  /** How many times lower the limit of a cold start is: more than 1, at most 100. @default 3 */
  readonly coldFactor?: number;
}

/** That of Guava. */
const DEFAULT_COLD_FACTOR = 3;
const MEMBERS: readonly string[] = ['over', 'coldFactor'];

/** What is wrong with the option, if anything is. */
export function warmUpFault(option: unknown): string | undefined {
  const parsed = parseWarmUp(option);
  return 'fault' in parsed ? parsed.fault : undefined;
}

/** The warm-up of a rule; undefined where it has none, or a faulty one. */
export function warmUpOf({ warmUp }: { readonly warmUp?: unknown }): WarmUp | undefined {
  const parsed = warmUp === undefined ? undefined : parseWarmUp(warmUp);
  return parsed && 'value' in parsed ? parsed.value : undefined;
}

/** The warm-up, or a sentence that says what is wrong with it ("must be …"). */
function parseWarmUp(option: unknown): { readonly value: WarmUp } | { readonly fault: string } {
  const given = typeof option === 'object' && option !== null ? option : { over: option };
  const unknown = Object.keys(given).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return { fault: `must have over and coldFactor, and not ${unknown}` };
  const { over, coldFactor = DEFAULT_COLD_FACTOR } = given as Partial<WarmUpOptions>;
  const parsed = parseDuration(over);
  if ('fault' in parsed) return parsed;
  if (typeof coldFactor !== 'number' || !(coldFactor > 1 && coldFactor <= MAX_COLD_FACTOR)) {
    return { fault: `must have a coldFactor above 1, and at most ${MAX_COLD_FACTOR}` };
  }
  return { value: { overMs: parsed.ms, coldFactor } };
}

/** The largest limit where exact is true, for messages. */
export const exactBorder = (warmUp: WarmUp | undefined): string =>
  `${maxExactLimit(warmUp)} where exact is true${warmUp ? ', and warmUp given' : ''}`;
