import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Subject, type Observable } from 'rxjs';
import type { Decision } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import { describeError } from '../core/show.ts';
import { eventsOf, eventsOfFailure, type DecisionEvent, type IdentityWriter } from './decision-event.ts';
import { GuardedObservable } from './guarded-observable.ts';
import type { RuleCharge } from './rule-charges.ts';

const logger = new Logger('RateLimit');

interface TimedDecision<Of extends Decision> {
  readonly decision: Of;
  /** Milliseconds. */
  readonly tookMs: number;
}

/** Passes decisions on to whoever subscribes; without a subscriber, nothing is made of them. */
export class DecisionStream implements OnApplicationShutdown {
  readonly #events = new Subject<DecisionEvent>();
  readonly #writeIdentity: IdentityWriter;

  /** From now on, until the application has closed. */
  readonly decisions$: Observable<DecisionEvent> = new GuardedObservable(this.#events, tellFailedSubscriber);

  constructor(writeIdentity: IdentityWriter) {
    this.#writeIdentity = writeIdentity;
  }

  /** Asks for a decision, and tells of it; what cannot be decided is told of and thrown. */
  async observe<Of extends Decision>(
    charged: readonly RuleCharge[],
    ask: () => Promise<Of>,
  ): Promise<TimedDecision<Of>> {
    const askedAt = performance.now();
    try {
      const decision = await ask();
      const tookMs = performance.now() - askedAt;
      if (this.#events.observed) this.#tell(eventsOf(charged, decision, tookMs, this.#writeIdentity));
      return { decision, tookMs };
    } catch (error) {
      if (this.#events.observed && error instanceof StoreUnavailableError) {
        this.#tell(eventsOfFailure(charged, performance.now() - askedAt, this.#writeIdentity));
      }
      throw error;
    }
  }

  onApplicationShutdown(): void {
    this.#events.complete();
  }

  #tell(events: readonly DecisionEvent[]): void {
    for (const event of events) this.#events.next(event);
  }
}

const tellFailedSubscriber = (error: unknown): void =>
  logger.error(`A subscriber of RateLimiter.decisions$ failed: ${describeError(error)}`);
