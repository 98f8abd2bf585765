import type { ExecutionContext } from '@nestjs/common';
import type { LogLayout } from '../core/charge.ts';
import type { StoreErrorPolicy } from '../core/store-error-policy.ts';
import type { RuleBlock } from './block-option.ts';
import type { OutcomeCount } from './outcome.ts';
import type { WarmUp } from '../core/warm-up.ts';
import type { KeyFunction, RateLimitMoment, RateLimitOptions } from './rate-limit-options.ts';
import type { RuleNumber } from './rule-number.ts';

/** What tells apart those who get a budget each. */
export type RuleKind = 'method' | 'ip' | 'user' | 'key';

/** One rule where it stands, checked and complete. */
export interface Rule {
  /** Where it was written, for messages: `VoucherOrderController.seckill`. */
  readonly writtenOn: string;
  /** Its name, or one derived from its numbers: `10-per-10s`. */
  readonly label: string;
  readonly name: string | undefined;
  readonly kind: RuleKind;
  /** What it limits, as keys say it: `POST /voucher-order/seckill/:id`, or its bucket. */
  readonly place: string;
  /** Whether the rule shares the budget of its bucket, wherever it stands. */
  readonly isBucket: boolean;
  /** What keys say besides, when the rule has a name and no bucket. */
  readonly suffix: string;
  readonly windowMs: RuleNumber;
  /** That of the code, also where the rule in force has another: it tells apart the blocks of rules. */
  readonly writtenWindowMs: RuleNumber;
  readonly limit: RuleNumber;
  readonly cost: RuleNumber;
  /** Whether there is a function to be asked for each request. */
  readonly hasFunctions: boolean;
  /** Undefined where it goes by the limit. */
  readonly layout: LogLayout | undefined;
  /** Which requests stay charged, by their outcome. */
  readonly count: OutcomeCount;
  readonly warmUp: WarmUp | undefined;
  readonly key: KeyFunction | undefined;
  readonly block: RuleBlock | undefined;
  readonly skip: ((context: ExecutionContext) => boolean | Promise<boolean>) | undefined;
  readonly message: NonNullable<RateLimitOptions['message']>;
  /** Undefined for a `key` rule that is decided as soon as it has an identity. */
  readonly when: RateLimitMoment | undefined;
  readonly onStoreError: StoreErrorPolicy;
  /** The share of identities that it is enforced for, 0 to 100: the others are in shadow. */
  readonly enforcePercent: number;
}
