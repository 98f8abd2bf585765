import type { Provider } from '@nestjs/common';
import { callIds } from '../core/call-id.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import type { SupervisedStore } from '../core/store-health.ts';
import { WaitingCalls } from '../waiting/waiting-calls.ts';
import { Blocks } from './blocks.ts';
import { DecisionStream } from './decision-stream.ts';
import { LiveRules } from './live-rules.ts';
import { identitySettings, type RateLimitModuleOptions } from './module-options.ts';
import { RateLimitRules } from './rate-limit-rules.ts';
import { RateLimiter } from './rate-limiter.ts';
import { ReferenceCharges } from './reference-charges.ts';
import { RuleBook } from './rule-book.ts';
import { RuleOverrideIntake } from './rule-override-intake.ts';
import { StoreEventStream } from './store-event-stream.ts';
import { MODULE_OPTIONS, RATE_LIMIT_STORE } from './tokens.ts';

export const RATE_LIMITER_PROVIDER: Provider = {
  provide: RateLimiter,
  inject: [
    MODULE_OPTIONS,
    RATE_LIMIT_STORE,
    RuleBook,
    StoreEventStream,
    DecisionStream,
    Blocks,
    WaitingCalls,
    LiveRules,
    RuleOverrideIntake,
  ],
  useFactory: (
    options: RateLimitModuleOptions,
    store: RateLimitStore | SupervisedStore,
    rules: RuleBook,
    events: StoreEventStream,
    decisions: DecisionStream,
    blocks: Blocks,
    waiting: WaitingCalls,
    live: LiveRules,
    overrides: RuleOverrideIntake,
  ) => {
    const charges = new ReferenceCharges(rules, live, identitySettings(options).ipv6Prefix);
    const control = new RateLimitRules({ book: rules, live, intake: overrides });
    const { enabled = true } = options;
    const parts = { store, events, decisions, blocks, charges, waiting, control, nextId: callIds(), enabled };
    return new RateLimiter(parts);
  },
};
