import type { ExecutionContext } from '@nestjs/common';
import { logName } from '../core/charge.ts';
import { within } from '../core/deadline.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { describeError } from '../core/show.ts';
import type { Transport } from '../transports/transport.ts';
import { isCounted, type Outcome } from './outcome.ts';
import { tellOutcome } from './outcome-interceptor.ts';
import { PendingOutcome } from './pending-outcome.ts';
import type { RuleCharge } from './rule-charges.ts';
import type { Taken } from './rule-decider.ts';
import type { RuleLog } from './rule-log.ts';

interface Parts {
  readonly store: RateLimitStore;
  readonly transport: Transport;
  readonly log: RuleLog;
  /** Milliseconds that closing waits for refunds that are under way. */
  readonly deadlineMs: number;
}

/** What is needed of what a call took. */
type AwaitedTaken = Omit<Taken, 'tookMs'> & Partial<Pick<Taken, 'tookMs'>>;

/** What one request took, until its outcome is known. */
export class AwaitedOutcome {
  readonly #giveBack: (taken: AwaitedTaken, outcome: Outcome) => void;
  #taken: AwaitedTaken[] = [];
  #outcome: Outcome | undefined;

  constructor(giveBack: (taken: AwaitedTaken, outcome: Outcome) => void) {
    this.#giveBack = giveBack;
  }

  add(taken: AwaitedTaken): void {
    if (this.#outcome) this.#giveBack(taken, this.#outcome);
    else this.#taken.push(taken);
  }

  settle(outcome: Outcome): void {
    this.#outcome = outcome;
    for (const taken of this.#taken.splice(0)) this.#giveBack(taken, outcome);
  }

  /** What was taken is given back as a whole by somebody else. */
  drop(): void {
    this.#taken = [];
  }
}

/** Gives back what rules that count by outcome took from requests that they do not count. */
export class OutcomeRefunds {
  readonly #parts: Parts;
  readonly #underWay = new Set<Promise<void>>();
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Waits for the outcome of this request; undefined when nothing that it took depends on one.
   *
   * @param isAll whether nothing of the earlier moment is added later, as what is judged in shadow is
   */
  follow(context: ExecutionContext, taken: AwaitedTaken | undefined, isAll = true): AwaitedOutcome | undefined {
    if (isAll && !taken?.charged.some(({ rule }) => rule.count !== 'all')) return undefined;
    const awaited = new AwaitedOutcome((each, outcome) => this.#giveBack(each, outcome));
    if (taken) awaited.add(taken);
    const pending = new PendingOutcome((outcome) => awaited.settle(outcome));
    tellOutcome(context, pending);
    this.#parts.transport.followAnswer(context, (status) => pending.answered(status));
    return awaited;
  }

  /** Waits for the refunds that are under way, and begins no other: the store closes now. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const late = (): Error => new Error('the store did not answer in time');
    await within(this.#parts.deadlineMs, Promise.all(this.#underWay), late).catch(() => undefined);
  }

  #giveBack({ request: { id }, decision: { receipt }, charged }: AwaitedTaken, outcome: Outcome): void {
    if (this.#isClosed) return;
    const charges = this.#uncounted(charged, outcome);
    if (charges.length === 0) return;
    // Best effort: what cannot be given back leaves with the window.
    const refund = this.#parts.store
      .refund({ id, charges, receipt })
      .catch(() => undefined)
      .finally(() => this.#underWay.delete(refund));
    this.#underWay.add(refund);
  }

  /** The charges of rules that do not count this outcome. What is on one log with a rule that counts it stays with it. */
  #uncounted(charged: readonly RuleCharge[], outcome: Outcome): readonly RuleCharge['charge'][] {
    const isOfCounting = charged.map(({ rule }) => this.#isCounted(rule, outcome));
    const kept = new Set(charged.filter((_, i) => isOfCounting[i]).map(({ charge }) => logName(charge)));
    return charged.map(({ charge }) => charge).filter((charge) => !kept.has(logName(charge)));
  }

  #isCounted(rule: RuleCharge['rule'], outcome: Outcome): boolean {
    try {
      return isCounted(rule.count, outcome);
    } catch (error) {
      this.#parts.log.error(rule, `its count function failed, so the request counts: ${describeError(error)}`);
      return true;
    }
  }
}
