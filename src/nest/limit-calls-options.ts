import { parseDuration, type Duration } from '../core/duration.ts';
import { show } from '../core/show.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import { MOST_WAITING } from '../waiting/waiting-calls.ts';
import type { RateLimitOptions } from './rate-limit-options.ts';

/**
 * What `@LimitCalls` takes: at most `limit` units in any `window`, for everybody together or for each `key`. Its functions
 * get the arguments of the call, and declare the same parameters.
 */
export interface LimitCallsOptions<Args extends readonly unknown[] = []> {
  /** Length of the sliding window, as that of `@RateLimit`. @default 10 */
  readonly window?: Duration;
  /** Units admitted in any window. @default 20 */
  readonly limit?: number | string;
  /** Whose budget it is, by the arguments. @default everybody's */
  readonly key?: (...args: Args) => string;
  /** Units that one call takes, or a function of the arguments. @default 1 */
  readonly cost?: number | string | ((...args: Args) => number);
  /** How long a call waits for its turn, instead of being refused. @default not at all */
  readonly wait?: Duration;
  /** Refused at once when so many calls of this process wait for the same budget. @default 1_000 */
  readonly maxQueued?: number;
  /** Finds what ends the wait, in the arguments. */
  readonly signal?: (...args: Args) => AbortSignal | undefined;
  /** The message of the exception. @default 'Too many requests, please try again later.' */
  readonly message?: string;
  /** As that of `@RateLimit`. @default false */
  readonly exact?: boolean;
  /** The rule's stable name, part of its key, by which {@link RateLimiter} knows it. */
  readonly name?: string;
  /** Rules with the same bucket share one budget, wherever they stand. */
  readonly bucket?: string;
  /** What decides when the store cannot. @default the module's */
  readonly onStoreError?: RateLimitOptions['onStoreError'];
}

/** Whatever the arguments of the method are. */
export type AnyLimitCallsOptions = LimitCallsOptions<never[]>;

/** Every option; the compiler keeps it complete. */
const KNOWN_OPTIONS: Record<keyof LimitCallsOptions, true> = {
  window: true,
  limit: true,
  key: true,
  cost: true,
  wait: true,
  maxQueued: true,
  signal: true,
  message: true,
  exact: true,
  name: true,
  bucket: true,
  onStoreError: true,
};

const LIMIT_CALLS_OPTION_NAMES: readonly string[] = Object.keys(KNOWN_OPTIONS);

const functionFault = (value: unknown): string | undefined =>
  typeof value === 'function' ? undefined : 'must be a function of the arguments';
const valueFault = (value: unknown): string | undefined =>
  typeof value === 'function' ? 'must be a value: there is no request that a function could ask' : undefined;
const faultOf = (parsed: object): string | undefined => ('fault' in parsed ? String(parsed.fault) : undefined);

/** What is wrong with the options that other rules do not have, or not so. */
const FAULT_IN: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  window: valueFault,
  limit: valueFault,
  message: valueFault,
  key: functionFault,
  signal: functionFault,
  wait: (value) => faultOf(parseDuration(value)),
  maxQueued: (value) => faultOf(parseWholeNumber(value, MOST_WAITING)),
};

/** As options of any other rule, or undefined when `fault` was told what is wrong with those that others do not have. */
export function asRuleOptions(
  options: AnyLimitCallsOptions,
  writtenOn: string,
  fault: (message: string) => void,
): RateLimitOptions | undefined {
  // What is no object is told where all rules are compiled.
  if (typeof options !== 'object' || options === null) return options;
  let isFaulty = false;
  const wrong = (option: string, value: unknown, rule: string): void => {
    isFaulty = true;
    fault(`${writtenOn}: ${option} ${rule}, got ${show(value)}`);
  };
  for (const [option, value] of Object.entries(options) as [string, unknown][]) {
    if (!LIMIT_CALLS_OPTION_NAMES.includes(option)) {
      wrong(option, value, `is no option of @LimitCalls (${LIMIT_CALLS_OPTION_NAMES.join(', ')})`);
    }
    const rule = value === undefined ? undefined : FAULT_IN[option]?.(value);
    if (rule !== undefined) wrong(option, value, rule);
  }
  if (isFaulty) return undefined;
  const { window, limit, cost, message, exact, name, bucket, onStoreError } = options;
  const shared = { window, limit, message, exact, name, bucket, onStoreError };
  // What the function finds is given to each call.
  const costs = { ...shared, cost: typeof cost === 'function' ? 1 : cost };
  return options.key ? { ...costs, key: String } : { ...costs, type: 'METHOD' };
}
