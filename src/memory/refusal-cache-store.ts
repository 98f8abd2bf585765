import { logName, mergeCharges, roomFor, type Charge } from '../core/charge.ts';
import {
  budgetOf,
  refusalOf,
  denialBy,
  type Budget,
  type Decision,
  type Denied,
  type Preview,
  type Refusal,
} from '../core/decision.ts';
import type { ConsumeRequest, RefundRequest } from '../core/rate-limit-store.ts';
import type { StoreHealth, SupervisedStore } from '../core/store-health.ts';
import { isSameWarmUp } from '../core/warm-up.ts';

/** The longest that a refusal is remembered, milliseconds: so late a refund or reset of another process is noticed. */
const LONGEST_MS = 1_000;
/** Logs that something is known of at most, whatever keys clients choose; the oldest goes first. */
const MOST_KNOWN = 10_000;

/** Calls that begin in one turn of the event loop at most. */
const MOST_IN_A_TURN = 1_000;

/** All moments are milliseconds of this process. */
interface Remembered extends Pick<Refusal, 'limit' | 'warmUp' | 'remaining' | 'resetAfterMs'> {
  /** Units that there is no room for. */
  readonly room: number;
  readonly retryAfterMs: number;
  /** Whether it was the fence that refused. */
  readonly isFence: boolean;
  /** Until then, the store would refuse. */
  readonly until: number;
  /** When the answer came, and its times began to count for the caller. */
  readonly receivedAt: number;
}

/** Something was given back at this moment: refusals that were asked for before do not hold any more. */
interface Forgotten {
  readonly forgottenAt: number;
}

/**
 * Answers from memory what the store would refuse: a refusal tells until when, if nobody gives anything back. It is
 * remembered for the same key, limit and cost until that moment, counted from the time of asking, and for a second at
 * most; and forgotten when a caller refunds or resets. So nothing is admitted that the store would not admit, and what
 * another process gives back, or a store within this one, is noticed a second late at most.
 *
 * A limit that climbs may fall again before the moment that a refusal tells, and does not where others take meanwhile:
 * what they so make room for is noticed a second late at most, too.
 *
 * An id that was admitted before is refused like any other while such a refusal is remembered.
 */
export class RefusalCacheStore implements SupervisedStore {
  readonly #inner: SupervisedStore;
  readonly #now: () => number;
  /** By the name of the log, in the order in which they came. */
  readonly #known = new Map<string, Remembered | Forgotten>();
  #callsInTurn = 0;

  /** @param now milliseconds, for tests */
  constructor(inner: SupervisedStore, now: () => number = () => performance.now()) {
    this.#inner = inner;
    this.#now = now;
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    if (this.#callsInTurn === 0) setImmediate(() => (this.#callsInTurn = 0));
    // Who asks again and again is answered without a turn of the event loop, in which others' answers are read.
    if (this.#callsInTurn >= MOST_IN_A_TURN) return turnOfEventLoop().then(() => this.consume(request));
    this.#callsInTurn++;
    const askedAt = this.#now();
    const denied = this.#known.size > 0 ? this.#remembered(request.charges, askedAt) : undefined;
    return denied ? Promise.resolve(denied) : this.#ask(request, askedAt);
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#inner.peek(charges);
  }

  refund(request: RefundRequest): Promise<void> {
    this.#forget(request.charges);
    return this.#inner.refund(request);
  }

  reset(charges: readonly Charge[]): Promise<void> {
    this.#forget(charges);
    return this.#inner.reset(charges);
  }

  health(): StoreHealth {
    return this.#inner.health();
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  async #ask(request: ConsumeRequest, askedAt: number): Promise<Decision> {
    const decision = await this.#inner.consume(request);
    // What this process refuses in an outage, the store may admit when it is back.
    if (!decision.allowed && this.#inner.health().state === 'available') {
      this.#remember(decision, request.charges, askedAt);
    }
    return decision;
  }

  #remember({ refusedBy, decidedBy }: Denied, charges: readonly Charge[], askedAt: number): void {
    const receivedAt = this.#now();
    const isFence = decidedBy === 'fence';
    const { merged } = mergeCharges(charges);
    for (const { remaining, resetAfterMs, retryAfterMs, ...refused } of refusedBy) {
      if (retryAfterMs === undefined) continue;
      const name = logName(refused);
      // What was judged is what the charges on one log come to.
      const judged = merged.find((charge) => logName(charge) === name)!;
      const [limit, room, warmUp] = [judged.limit, roomFor(judged), judged.warmUp];
      const known = this.#known.get(name);
      if (known && 'forgottenAt' in known && known.forgottenAt >= askedAt) continue;
      const until = askedAt + Math.min(retryAfterMs, LONGEST_MS);
      this.#set(name, { limit, room, warmUp, remaining, resetAfterMs, retryAfterMs, isFence, until, receivedAt });
    }
  }

  #remembered(charges: readonly Charge[], now: number): Denied | undefined {
    const budgets: Budget[] = [];
    const refusals: Refusal[] = [];
    let isFence = false;
    const { merged, places } = mergeCharges(charges);
    for (const [i, charge] of charges.entries()) {
      const judged = merged[places[i]!]!;
      const known = this.#known.get(logName(judged));
      if (!known || 'forgottenAt' in known || now >= known.until) continue;
      // For another limit or cost there may be room, or another time at which there is.
      if (known.limit !== judged.limit || known.room !== roomFor(judged)) continue;
      if (!isSameWarmUp(known.warmUp, judged.warmUp)) continue;
      isFence ||= known.isFence;
      const passedMs = now - known.receivedAt;
      const reading = { remaining: known.remaining, resetAfterMs: leftOf(known.resetAfterMs, passedMs) };
      budgets.push(budgetOf(charge, reading));
      if (charge.limit === judged.limit)
        refusals.push(refusalOf(charge, reading, leftOf(known.retryAfterMs, passedMs)));
    }
    const denied = denialBy(refusals, budgets);
    return denied && { ...denied, decidedBy: isFence ? 'fence' : 'cache' };
  }

  #forget(charges: readonly Charge[]): void {
    const forgottenAt = this.#now();
    for (const charge of charges) this.#set(logName(charge), { forgottenAt });
  }

  #set(name: string, value: Remembered | Forgotten): void {
    this.#known.delete(name);
    if (this.#known.size >= MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(name, value);
  }
}

/** What is left of a time that was told so long ago, at least a millisecond. */
const leftOf = (ms: number, passedMs: number): number => Math.max(1, Math.ceil(ms - passedMs));

const turnOfEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
