import type { RateLimitStore } from '../core/rate-limit-store.ts';
import type { SupervisedStore } from '../core/store-health.ts';
import type { WaitingCalls } from '../waiting/waiting-calls.ts';
import type { Blocks } from './blocks.ts';
import type { DecisionStream } from './decision-stream.ts';
import type { LimitSwitch } from './limit-switch.ts';
import type { RateLimitRules } from './rate-limit-rules.ts';
import type { ReferenceCharges } from './reference-charges.ts';
import type { SparedCalls } from './spared-calls.ts';
import type { StoreEventStream } from './store-event-stream.ts';

/** What the service is made of. */
export interface RateLimiterParts {
  readonly store: RateLimitStore | SupervisedStore;
  readonly events: StoreEventStream;
  readonly decisions: DecisionStream;
  readonly blocks: Blocks;
  readonly charges: ReferenceCharges;
  readonly waiting: WaitingCalls;
  readonly control: RateLimitRules;
  readonly spared: SparedCalls;
  readonly limits: LimitSwitch;
  readonly nextId: () => string;
}
