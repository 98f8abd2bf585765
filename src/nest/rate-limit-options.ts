import type { ExecutionContext } from '@nestjs/common';
import type { StoreErrorPolicy } from '../core/store-error-policy.ts';
import type { Denied } from '../core/decision.ts';
import type { Duration } from '../core/duration.ts';
import type { OutcomeCount } from './outcome.ts';
import type { WarmUpOptions } from './warm-up-option.ts';

/** Who shares a budget. */
export const RateLimitType = {
  /** Everybody who calls what the rule stands on. */
  METHOD: 'METHOD',
  /** One client address; IPv6 by network. */
  IP: 'IP',
  /** One authenticated user. */
  USER: 'USER',
} as const;
export type RateLimitType = keyof typeof RateLimitType;

/** When a rule is decided: before the application's other guards (authentication among them) or after all of them. */
export type RateLimitMoment = 'beforeGuards' | 'afterGuards';

/** Whether a rule refuses, or only tells what it would have refused. */
export type RateLimitMode = 'enforce' | 'shadow';

type MaybePromise<T> = T | Promise<T>;
/** A value, or a function that finds it for each request. */
export type Resolvable<T> = T | ((context: ExecutionContext) => MaybePromise<T>);

/** An identity of the application's own; undefined where the request has none (yet). */
export type KeyFunction = (context: ExecutionContext) => MaybePromise<string | number | bigint | undefined | null>;

/** After `after` refusals by the rule within `within`, the same identity is refused for `for`, whatever room there is. */
export interface BlockOptions {
  /** Refusals: a whole number from 1. Those while the identity is blocked do not count. */
  readonly after: number | string;
  /** How close together they come: seconds as a number, or like `'1m'`. */
  readonly within: Duration;
  /** How long the identity is blocked: seconds as a number, or like `'10m'`. Knocking does not prolong it. */
  readonly for: Duration;
}

/** One rule: at most `limit` units in any `window`, for each of those whom `type` or `key` tells apart. */
export interface RateLimitOptions {
  /**
   * Length of the sliding window: seconds as a number (`0.5` is half a second), or `'500ms'`, `'10s'`, `'1m'`,
   * `'1h'`, `'1d'`. Bare numbers above 3,600 fail the start.
   * @default 10
   */
  readonly window?: Resolvable<Duration>;
  /**
   * Units admitted in any window: a whole number from 1 to 1,000,000,000; clean numeric strings are accepted. Above 128,
   * units are counted in hundredths of the window, and room may come back so much late.
   * @default 20
   */
  readonly limit?: Resolvable<number | string>;
  /** Who shares the budget. @default 'METHOD' */
  readonly type?: RateLimitType;
  /** An identity of your own in place of `type`: a tenant, an API key, the e-mail in the body. */
  readonly key?: KeyFunction;
  /** What the client is told. @default 'Too many requests, please try again later.' */
  readonly message?: string | ((denied: Denied, context: ExecutionContext) => string);
  /**
   * Units that one request takes. A static cost above a static limit fails the start. A cost of 0 takes nothing, and is
   * refused while the budget is used up.
   * @default 1
   */
  readonly cost?: Resolvable<number | string>;
  /**
   * True: each unit is counted by itself, at its own moment, also where the limit is above 128, at 120 bytes a unit. The
   * limit is then 10,000 at most, and the cost 128.
   * @default false
   */
  readonly exact?: boolean;
  /**
   * Which requests count, by how they ended. All are charged at once, so that no number of them slips through
   * together; those that do not count are given back when their outcome is known. Where it never is (a stream that
   * broke off), the charge stays.
   * @default 'all'
   */
  readonly count?: OutcomeCount;
  /**
   * After a cold start or idleness the limit climbs to its full height in so long, if it is used up, from a third of it:
   * `'30s'`, or `{ over: '30s', coldFactor: 5 }` to begin at a fifth. It climbs and falls as the rate of
   * SmoothRateLimiter.SmoothWarmingUp in Guava, over all processes together, and is never above `limit`. A static cost
   * above the limit of a cold start fails the start; from a function it is refused. Where `exact` is true, the limit is
   * 128 at most. Headers tell the rule's limit, and what remains of the one that is reached.
   * @default none: the limit is in force at once
   * @see {@link https://github.com/google/guava/blob/master/guava/src/com/google/common/util/concurrent/SmoothRateLimiter.java}
   */
  readonly warmUp?: Duration | WarmUpOptions;
  /** The rule's stable name, part of its key: for `@SkipRateLimit('name')` and {@link RateLimiter}. */
  readonly name?: string;
  /** Rules with the same bucket share one budget, wherever they stand. They agree in window, kind of identity, block and warm-up. */
  readonly bucket?: string;
  /**
   * Refuses who was refused too often for a time of its own. Not for METHOD rules, where one client would lock out all.
   * @default none
   */
  readonly block?: BlockOptions;
  /** True: the rule does not apply to this request. */
  readonly skip?: (context: ExecutionContext) => MaybePromise<boolean>;
  /** By default IP rules are decided before the guards, METHOD and USER rules after, `key` rules when they have one. */
  readonly when?: RateLimitMoment;
  /** What decides when the store cannot, or when a function of this rule throws. @default the module's */
  readonly onStoreError?: StoreErrorPolicy;
  /**
   * `'shadow'`: the rule is judged, on a log of its own, and what it would have refused is told, but it never refuses
   * and no client notices.
   * @default 'enforce'
   */
  readonly mode?: RateLimitMode;
  /**
   * A number from 0 to 100, fractions too: the rule is enforced for this share of identities and in shadow for the
   * others. Who is enforced stays so while the share grows, in every process. Not for METHOD rules.
   */
  readonly enforcePercent?: number | string;
}

/** Every option of a rule; the compiler keeps it complete. */
const KNOWN_OPTIONS: Record<keyof RateLimitOptions, true> = {
  window: true,
  limit: true,
  type: true,
  key: true,
  message: true,
  cost: true,
  exact: true,
  count: true,
  warmUp: true,
  name: true,
  bucket: true,
  block: true,
  skip: true,
  when: true,
  onStoreError: true,
  mode: true,
  enforcePercent: true,
};

export const RATE_LIMIT_OPTION_NAMES: readonly string[] = Object.keys(KNOWN_OPTIONS);
