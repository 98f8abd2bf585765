import type { Provider } from '@nestjs/common';
import { callIds } from '../core/call-id.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { Blocks } from './blocks.ts';
import { DecisionStream } from './decision-stream.ts';
import { LimitSwitch } from './limit-switch.ts';
import type { RateLimitModuleOptions } from './module-options.ts';
import { RuleBook } from './rule-book.ts';
import { RuleLog } from './rule-log.ts';
import { ShadowJudge } from './shadow-judge.ts';
import { MODULE_OPTIONS, RATE_LIMIT_STORE } from './tokens.ts';

/** What keeps limits from refusing: the switch of the module, and rules in shadow. */
export const SHADOW_PROVIDERS: Provider[] = [
  {
    provide: LimitSwitch,
    inject: [MODULE_OPTIONS, RuleBook],
    useFactory: ({ enabled = true }: RateLimitModuleOptions) => new LimitSwitch(enabled),
  },
  {
    provide: ShadowJudge,
    inject: [RATE_LIMIT_STORE, Blocks, DecisionStream],
    useFactory: (store: RateLimitStore, blocks: Blocks, decisions: DecisionStream) =>
      new ShadowJudge({ store, blocks, decisions, log: new RuleLog(), nextId: callIds() }),
  },
];
