import type { Provider } from '@nestjs/common';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { ruleOverridesBeside } from '../create-rate-limit-store.ts';
import { MemoryRuleOverrides } from '../memory/memory-rule-overrides.ts';
import { LiveRules } from './live-rules.ts';
import type { RateLimitModuleOptions } from './module-options.ts';
import { RuleBook } from './rule-book.ts';
import { RuleOverrideIntake } from './rule-override-intake.ts';
import { MODULE_OPTIONS, RATE_LIMIT_STORE } from './tokens.ts';

/** What changes rules while they are in force. */
export const LIVE_RULES_PROVIDERS: readonly Provider[] = [
  { provide: LiveRules, inject: [RuleBook], useFactory: (rules: RuleBook) => new LiveRules(rules) },
  {
    provide: RuleOverrideIntake,
    inject: [MODULE_OPTIONS, RATE_LIMIT_STORE, LiveRules],
    useFactory: async (options: RateLimitModuleOptions, store: RateLimitStore, live: LiveRules) => {
      const { redis, liveRules = false, overrides: given } = options;
      const inProcess = !redis || liveRules ? new MemoryRuleOverrides() : undefined;
      const kept = (liveRules && ruleOverridesBeside(store)) || inProcess;
      const intake = new RuleOverrideIntake({ live, kept, given, now: () => performance.now() });
      await intake.start();
      return intake;
    },
  },
];
