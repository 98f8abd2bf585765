import { assertCharges, logName, mergeCharges, type Charge } from '../core/charge.ts';
import { denialBy, type Decision, type Denied, type Preview } from '../core/decision.ts';
import { StoreFullError } from '../core/errors.ts';
import type { ConsumeRequest, RefundRequest } from '../core/rate-limit-store.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { RecentAdmissions } from './recent-admissions.ts';

export interface LocalFallbackOptions {
  /** Among so many processes the limits are divided while they decide alone. */
  readonly instances: () => number;
  /** Told when a key is not tracked for want of room: its charge is let through. */
  readonly onFull: (error: StoreFullError) => void;
  /** Milliseconds, for tests. */
  readonly now?: () => number;
  /** Keys that are tracked at most. */
  readonly maxKeys?: number;
}

/** A charge with this process's share of its limit. */
interface Shared extends Charge {
  readonly wholeLimit: number;
}

/**
 * Decides in this process while the store cannot. It is told what the store admits, so that an outage does not begin
 * with whole budgets: in no window, before, in or after an outage, does the process admit more than the limit.
 *
 * While the store decides, admissions are only counted. What this process decides itself stands in a log of its own,
 * and as long as a key has one, the store's admissions of that key have to pass it too.
 */
export class LocalFallback {
  readonly #store: MemoryStore;
  readonly #recent = new RecentAdmissions();
  readonly #instances: () => number;
  readonly #onFull: (error: StoreFullError) => void;
  readonly #now: () => number;

  constructor({ instances, onFull, now = () => performance.now(), maxKeys }: LocalFallbackOptions) {
    this.#instances = instances;
    this.#onFull = onFull;
    this.#now = now;
    this.#store = new MemoryStore({ now, ...(maxKeys !== undefined && { maxKeys }) });
  }

  /** The moment, in whole milliseconds of this process: a receipt tells it. */
  now(): number {
    return Math.floor(this.#now());
  }

  /** Decides what the store could not, by this process's share of the limits. */
  async consume({ id, charges }: ConsumeRequest): Promise<Decision> {
    const decide = (tracked: readonly Charge[]) => this.#store.consume({ id, charges: this.#shared(tracked) });
    const decision = await this.#amongTracked(charges, decide);
    return decision ? withWholeLimits(decision) : { allowed: true, id, budgets: [] };
  }

  /** What {@link consume} would answer. */
  async peek(charges: readonly Charge[]): Promise<Preview> {
    const preview = await this.#amongTracked(charges, (tracked) => this.#store.peek(this.#shared(tracked)));
    return preview ? withWholeLimits(preview) : { allowed: true, budgets: [] };
  }

  /**
   * Counts what the store admitted; or tells why this process may not admit it, since it admitted calls that the store
   * does not know of.
   *
   * @param at the moment, for {@link giveBack}
   */
  confirm(id: string, charges: readonly Charge[], at: number): undefined | Promise<Denied | undefined> {
    const decided = this.#decidedHere(charges);
    if (decided.length > 0) return this.#confirmDecided(id, charges, decided, at);
    this.#recent.record(charges, at);
    return undefined;
  }

  /** Why {@link confirm} would not let this process admit what the store would. */
  async objection(charges: readonly Charge[]): Promise<Denied | undefined> {
    const decided = this.#decidedHere(charges);
    const preview = decided.length > 0 ? await this.#store.peek(decided) : undefined;
    return preview?.allowed === false ? preview : undefined;
  }

  /** Takes back what was counted of a call of the store, at this moment. */
  async giveBack({ id, charges }: RefundRequest, at: number): Promise<void> {
    this.#recent.giveBack(id, charges, at);
    await this.refund({ id, charges });
  }

  /** Takes back what this process decided. */
  async refund(request: RefundRequest): Promise<void> {
    if (this.#store.size > 0) await this.#store.refund(request);
  }

  reset(charges: readonly Charge[]): Promise<void> {
    for (const charge of charges) this.#recent.drain(charge, this.#now());
    return this.#store.reset(charges);
  }

  /** The charges whose keys have a log here. */
  #decidedHere(charges: readonly Charge[]): readonly Charge[] {
    return this.#store.size > 0 ? charges.filter((charge) => this.#store.counts(charge)) : [];
  }

  async #confirmDecided(
    id: string,
    charges: readonly Charge[],
    decided: readonly Charge[],
    at: number,
  ): Promise<Denied | undefined> {
    const decision = await this.#store.consume({ id, charges: decided });
    if (!decision.allowed) return decision;
    this.#recent.record(
      charges.filter((charge) => !decided.includes(charge)),
      at,
    );
    return undefined;
  }

  /** Undefined when there is no room for any of the charges. */
  async #amongTracked<T>(
    charges: readonly Charge[],
    decide: (tracked: readonly Charge[]) => Promise<T>,
  ): Promise<T | undefined> {
    assertCharges(charges);
    for (const charge of mergeCharges(charges).merged) {
      const admissions = this.#recent.drain(charge, this.#now());
      if (admissions.length > 0) this.#store.include(charge, admissions);
    }
    try {
      return await decide(charges);
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
      this.#onFull(error);
      const tracked = charges.filter((charge) => !error.untracked.has(logName(charge)));
      return tracked.length > 0 ? decide(tracked) : undefined;
    }
  }

  /** With this process's share of the limits: at least one unit. */
  #shared(charges: readonly Charge[]): readonly Shared[] {
    const instances = this.#instanceCount();
    return charges.map((charge) => ({
      ...charge,
      limit: Math.max(1, Math.floor(charge.limit / instances)),
      wholeLimit: charge.limit,
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

/** With the limits that the caller knows, in place of shares of them. */
function withWholeLimits<D extends Preview>(decision: D): D {
  const whole = <B extends Charge>(budget: B): B => {
    const { wholeLimit, ...rest } = budget as B & Shared;
    return { ...rest, limit: wholeLimit } as B;
  };
  const budgets = decision.budgets.map(whole);
  if (decision.allowed) return { ...decision, budgets };
  return { ...decision, ...denialBy(decision.refusedBy.map(whole), budgets)! };
}
