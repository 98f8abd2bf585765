import type { Provider } from '@nestjs/common';
import { callIds } from '../core/call-id.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import type { SupervisedStore } from '../core/store-health.ts';
import { WaitingCalls } from '../waiting/waiting-calls.ts';
import { Blocks } from './blocks.ts';
import { CallLimiter } from './call-limiter.ts';
import { DecisionStream } from './decision-stream.ts';
import { LimitSwitch } from './limit-switch.ts';
import { LiveRules } from './live-rules.ts';
import { identitySettings, type RateLimitModuleOptions } from './module-options.ts';
import { RateLimitRules } from './rate-limit-rules.ts';
import { RateLimiter } from './rate-limiter.ts';
import { ReferenceCharges } from './reference-charges.ts';
import { RuleBook } from './rule-book.ts';
import { RuleOverrideIntake } from './rule-override-intake.ts';
import { ShadowJudge } from './shadow-judge.ts';
import { SparedCalls } from './spared-calls.ts';
import { StoreEventStream } from './store-event-stream.ts';
import { CALL_LIMITER, MODULE_OPTIONS, RATE_LIMIT_STORE } from './tokens.ts';

const REFERENCE_CHARGES: Provider = {
  provide: ReferenceCharges,
  inject: [MODULE_OPTIONS, RuleBook, LiveRules],
  useFactory: (options: RateLimitModuleOptions, rules: RuleBook, live: LiveRules) =>
    new ReferenceCharges(rules, live, identitySettings(options).ipv6Prefix),
};

const CALL_LIMITER_PROVIDER: Provider = {
  provide: CALL_LIMITER,
  inject: [RateLimiter, ReferenceCharges, RuleBook],
  useFactory: (limiter: RateLimiter, charges: ReferenceCharges, { calls }: RuleBook) =>
    new CallLimiter({ limiter, charges, calls }),
};

const RATE_LIMITER_PROVIDER: Provider = {
  provide: RateLimiter,
  inject: [
    ReferenceCharges,
    RATE_LIMIT_STORE,
    RuleBook,
    StoreEventStream,
    DecisionStream,
    Blocks,
    WaitingCalls,
    LiveRules,
    RuleOverrideIntake,
    ShadowJudge,
    LimitSwitch,
  ],
  useFactory: (
    charges: ReferenceCharges,
    store: RateLimitStore | SupervisedStore,
    rules: RuleBook,
    events: StoreEventStream,
    decisions: DecisionStream,
    blocks: Blocks,
    waiting: WaitingCalls,
    live: LiveRules,
    overrides: RuleOverrideIntake,
    judge: ShadowJudge,
    limits: LimitSwitch,
  ) => {
    const control = new RateLimitRules({ book: rules, live, intake: overrides });
    const spared = new SparedCalls({ judge, limits });
    const calls = { blocks, charges, waiting, spared, limits, nextId: callIds() };
    return new RateLimiter({ store, events, decisions, control, ...calls });
  },
};

/** What limits calls that come with no request: the service, and `@LimitCalls`. */
export const LIMITER_PROVIDERS: readonly Provider[] = [REFERENCE_CHARGES, RATE_LIMITER_PROVIDER, CALL_LIMITER_PROVIDER];
