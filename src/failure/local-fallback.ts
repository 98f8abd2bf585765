import { MAX_EXACT_LIMIT, MAX_EXACT_WARM_UP_LIMIT, assertCharges, logName, type Charge } from '../core/charge.ts';
import { denialBy, type Budget, type Decision, type Denied, type Preview } from '../core/decision.ts';
import { StoreFullError } from '../core/errors.ts';
import type { ConsumeRequest, RefundRequest } from '../core/rate-limit-store.ts';
import { WindowLogs } from '../memory/window-logs.ts';
import { RecentAdmissions } from './recent-admissions.ts';

/** That are tracked, unless the options say another number. */
const MOST_KEYS = 100_000;

export interface LocalFallbackOptions {
  /** Among so many processes the limits are divided while they decide alone. */
  readonly instances: () => number;
  /** Told when a key is not tracked for want of room: its charge is let through. */
  readonly onFull: (error: StoreFullError) => void;
  /** Milliseconds, for tests. */
  readonly now?: () => number;
  /** Keys that are tracked at most. */
  readonly maxKeys?: number;
  /**
   * Whether charges whose window is longer than the memory of the store were decided here before they are confirmed.
   * @default false
   */
  readonly isFence?: boolean;
}

/**
 * Decides in this process while the store cannot. It is told what the store admits, so that an outage does not begin
 * with whole budgets: in no window, before, in or after an outage, does the process admit more than the limit.
 *
 * While the store decides, admissions are only counted. What this process decides itself stands in a log of its own,
 * and as long as a key has one, the store's admissions of that key have to pass it too.
 */
export class LocalFallback {
  readonly #logs: WindowLogs;
  readonly #recent = new RecentAdmissions();
  /** When the first admission of the store was counted; milliseconds. */
  #countsSince = Infinity;
  readonly #instances: () => number;
  readonly #onFull: (error: StoreFullError) => void;
  readonly #now: () => number;
  readonly #isFence: boolean;

  constructor({ instances, onFull, now = () => performance.now(), maxKeys, isFence = false }: LocalFallbackOptions) {
    this.#instances = instances;
    this.#onFull = onFull;
    this.#now = now;
    this.#isFence = isFence;
    this.#logs = new WindowLogs({ now, ...(maxKeys !== undefined && { maxKeys }) });
  }

  /** The moment, in whole milliseconds of this process, rounded up: a receipt tells it. */
  now(): number {
    return Math.ceil(this.#now());
  }

  /** Decides what the store could not, by this process's share of the limits. */
  consume({ id, charges }: ConsumeRequest): Decision {
    const decide = (tracked: readonly Charge[]) =>
      asAsked(this.#logs.consume({ id, charges: this.#shared(tracked) }), tracked);
    return this.#amongTracked(charges, decide) ?? { allowed: true, id, budgets: [] };
  }

  /** What {@link consume} would answer. */
  peek(charges: readonly Charge[]): Preview {
    const read = (tracked: readonly Charge[]) => asAsked(this.#logs.peek(this.#shared(tracked)), tracked);
    return this.#amongTracked(charges, read) ?? { allowed: true, budgets: [] };
  }

  /**
   * Counts what the store admitted; or tells why this process may not admit it, since it admitted calls that the store
   * does not know of, or has forgotten.
   *
   * @param at the moment, for {@link giveBack}
   * @param memoryAgeMs for how long the store has kept what it was told, where that is known
   */
  confirm(id: string, charges: readonly Charge[], at: number, memoryAgeMs = Infinity): Denied | undefined {
    const others = this.#isFence
      ? charges.filter(({ windowMs, cost }) => windowMs <= memoryAgeMs || cost === 0)
      : charges;
    const decided = this.#decidedHere(others, memoryAgeMs);
    const decision = decided.length > 0 ? this.#logs.consume({ id, charges: decided.map(kept) }) : undefined;
    if (decision?.allowed === false) return asAsked(decision, decided);
    for (const charge of charges) if (charge.warmUp) this.#logs.warm(this.#shared([charge])[0]!);
    const counted = decided.length > 0 ? others.filter((charge) => !decided.includes(charge)) : others;
    if (counted.length > 0) this.#record(counted, at);
    return undefined;
  }

  /** Why {@link confirm} would not let this process admit what the store would. */
  objection(charges: readonly Charge[]): Denied | undefined {
    const decided = this.#decidedHere(charges, Infinity);
    const preview = decided.length > 0 ? this.#logs.peek(decided.map(kept)) : undefined;
    return preview?.allowed === false ? asAsked(preview, decided) : undefined;
  }

  /** Takes back what was counted of a call of the store, at this moment. */
  giveBack(request: RefundRequest, at: number): void {
    const isElsewhere = (charge: Charge): boolean =>
      isKeptExact(charge) ? this.#logs.records(charge, request.id) : this.#logs.counts(charge);
    const drained = this.#recent.giveBack(request, at, this.#now(), isElsewhere);
    for (const { charge, part } of drained) this.#logs.exclude(charge, part);
    this.refund(request);
  }

  /** Takes back what this process decided. */
  refund(request: RefundRequest): void {
    if (this.#logs.size > 0) this.#logs.refund(request);
  }

  reset(charges: readonly Charge[]): void {
    for (const charge of charges) this.#recent.drain(charge, this.#now());
    this.#logs.reset(charges);
  }

  /** The charges whose keys have a log here, or get one since the store has forgotten what is counted of them. */
  #decidedHere(charges: readonly Charge[], memoryAgeMs: number): readonly Charge[] {
    // A store that is younger than this process's counting has lost something; one that is only young has not.
    const forgotBefore = this.#now() - memoryAgeMs;
    if (forgotBefore > this.#countsSince) {
      for (const charge of charges) if (charge.windowMs > memoryAgeMs) this.#include(charge, forgotBefore);
    }
    return this.#logs.size > 0 ? charges.filter((charge) => this.#logs.counts(charge)) : [];
  }

  #record(charges: readonly Charge[], at: number): void {
    this.#countsSince = Math.min(this.#countsSince, at);
    if (!this.#recent.record(charges, at)) this.#onFull(new StoreFullError(new Set(charges.map(logName)), MOST_KEYS));
  }

  /** Moves what is counted of the key, in parts that began before this moment, into its log, if there is room. */
  #include(charge: Charge, before?: number): void {
    if (!this.#logs.hasRoomFor(charge)) return;
    for (const admitted of this.#recent.drain(charge, this.#now(), before)) this.#logs.include(charge, admitted);
  }

  /** Undefined when there is no room for any of the charges. */
  #amongTracked<T>(charges: readonly Charge[], decide: (tracked: readonly Charge[]) => T): T | undefined {
    assertCharges(charges);
    for (const charge of charges) this.#include(charge);
    try {
      return decide(charges);
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
      this.#onFull(error);
      const tracked = charges.filter((charge) => !error.untracked.has(logName(charge)));
      return tracked.length > 0 ? decide(tracked) : undefined;
    }
  }

  /** With this process's share of the limits: at least one unit. */
  #shared(charges: readonly Charge[]): readonly Charge[] {
    const instances = this.#instanceCount();
    return charges.map((charge) => ({
      ...kept(charge),
      limit: Math.max(1, Math.floor(charge.limit / instances)),
      warmUp: charge.warmUp,
    }));
  }

  /** One where the application does not know. */
  #instanceCount(): number {
    try {
      return Math.max(1, Math.floor(this.#instances()) || 1);
    } catch {
      return 1;
    }
  }
}

/** Exact logs know calls, so that what is decided here and counted besides is told apart; this process can hold larger ones. */
const isKeptExact = ({ limit, warmUp }: Charge): boolean =>
  limit <= (warmUp ? MAX_EXACT_WARM_UP_LIMIT : MAX_EXACT_LIMIT);

/** A charge as the logs here keep it. What the store admits has to pass the limit, but not how far that climbed here. */
const kept = (charge: Charge): Charge => ({
  ...charge,
  layout: isKeptExact(charge) ? 'exact' : 'compact',
  warmUp: undefined,
});

/** With the charges that the caller knows, in place of those that are kept for them. */
function asAsked<D extends Preview>(decision: D, asked: readonly Charge[]): D {
  const restored = <B extends Budget>(budget: B, i: number): B => {
    const { limit, layout, warmUp } = asked[i]!;
    return { ...budget, limit, layout, warmUp };
  };
  const budgets = decision.budgets.map(restored);
  if (decision.allowed) return { ...decision, budgets };
  const placeOf = (refusal: Budget): number =>
    decision.budgets.findIndex((budget) => logName(budget) === logName(refusal) && budget.limit === refusal.limit);
  const refusals = decision.refusedBy.map((refusal) => restored(refusal, placeOf(refusal)));
  return { ...decision, ...denialBy(refusals, budgets)! };
}
