import { logName, type Charge } from '../core/charge.ts';
import type { Allowed, Decision, Preview } from '../core/decision.ts';
import { StoreFullError, StoreUnavailableError, type StoreFailureKind } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import type { StoreErrorPolicy } from '../core/store-error-policy.ts';
import type { StoreHealth, SupervisedStore } from '../core/store-health.ts';
import { isHurried, type CircuitBreakerStore } from './circuit-breaker-store.ts';
import type { LocalFallback } from './local-fallback.ts';
import { originOf, receiptOf } from './receipt.ts';
import type { StoreEvents } from './store-events.ts';

export interface FailurePolicyOptions {
  /** For charges that name no policy of their own. */
  readonly onStoreError: StoreErrorPolicy;
  /** Told of every answer and failure of the store. */
  readonly events: StoreEvents;
  /** What is known of the calls to the store; without it, they are calls within the process. */
  readonly vitals?: Pick<CircuitBreakerStore, 'circuit' | 'latencyMs'>;
  /** Decides charges of the policy `local`; without it, they are allowed. */
  readonly local?: LocalFallback;
  /** Whether `local` is told of all that the store admits, and not only of charges of that policy. */
  readonly remembersAll?: boolean;
}

/**
 * Lets the policies of the charges decide when the store cannot. One that says `deny` passes the error on. Otherwise
 * those that say `local` are decided in this process, all or none, and those that say `allow` are let through, with
 * nothing known of their budgets. What a call that was refused may have been charged all the same is given back once,
 * best effort; where it was served, a late charge stays.
 */
export class FailurePolicyStore implements SupervisedStore {
  readonly #inner: RateLimitStore;
  readonly #onStoreError: StoreErrorPolicy;
  readonly #events: StoreEvents;
  readonly #vitals: FailurePolicyOptions['vitals'];
  readonly #local: LocalFallback | undefined;
  readonly #remembersAll: boolean;

  constructor(inner: RateLimitStore, options: FailurePolicyOptions) {
    const { onStoreError, events, vitals, local, remembersAll = false } = options;
    this.#inner = inner;
    this.#onStoreError = onStoreError;
    this.#events = events;
    this.#vitals = vitals;
    this.#local = local;
    this.#remembersAll = remembersAll;
  }

  health(): StoreHealth {
    const { circuit = 'closed', latencyMs } = this.#vitals ?? {};
    return { ...this.#events.health, circuit, ...(latencyMs !== undefined && { latencyMs }) };
  }

  async consume(request: ConsumeRequest): Promise<Decision> {
    // Within the process there is nothing to wait for.
    if (this.#vitals && request.withinMs !== undefined && request.withinMs <= 0)
      return this.#decideWithout(noTimeLeft(), request, false);
    let decision: Decision;
    try {
      decision = await this.#inner.consume(request);
    } catch (error) {
      this.#note(error, request.withinMs);
      return this.#decideWithout(error, request);
    }
    this.#events.answered();
    return this.#local && decision.allowed ? this.#confirmed(this.#local, decision, request) : decision;
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    try {
      const preview = await this.#observed(() => this.#inner.peek(charges));
      const denied = preview.allowed ? this.#local?.objection(this.#rememberedOf(charges)) : undefined;
      return denied ?? preview;
    } catch (error) {
      const { decidable, local } = this.#undecided(error, charges);
      if (decidable.length > 0) return this.peek(decidable);
      return this.#local && local.length > 0 ? this.#local.peek(local) : { allowed: true, budgets: [] };
    }
  }

  /** Goes to where the call was charged. */
  async refund(request: RefundRequest): Promise<void> {
    if (!this.#local || request.receipt === undefined) return this.#observed(() => this.#inner.refund(request));
    const { rememberedAt, isLocal, mayBeLate, receipt } = originOf(request.receipt);
    if (isLocal) {
      if (mayBeLate) this.#giveBack({ ...request, receipt: undefined });
      return this.#local.refund({ ...request, receipt });
    }
    if (rememberedAt !== undefined) this.#local.giveBack(request, rememberedAt);
    return this.#observed(() => this.#inner.refund({ ...request, receipt }));
  }

  async reset(charges: readonly Charge[]): Promise<void> {
    this.#local?.reset(charges);
    return this.#observed(() => this.#inner.reset(charges));
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  /** @param wasSent whether the store may have charged the call all the same */
  async #decideWithout(error: unknown, request: ConsumeRequest, wasSent = true): Promise<Decision> {
    const { id, charges } = request;
    const mayBeLate = wasSent && error instanceof StoreUnavailableError && UNANSWERED.has(error.kind);
    const giveBack = (): void => {
      if (mayBeLate) this.#giveBack(request);
    };
    const { decidable, local } = this.#undecided(error, charges, giveBack);
    if (decidable.length > 0) return this.consume({ ...request, charges: decidable });
    if (!this.#local || local.length === 0) return { allowed: true, id, budgets: [], decidedBy: 'policy' };
    const decision = this.#local.consume({ id, charges: local });
    if (decision.allowed) {
      const receipt = receiptOf({ isLocal: true, mayBeLate, receipt: decision.receipt });
      return { ...decision, receipt, decidedBy: 'local' };
    }
    giveBack();
    return { ...decision, decidedBy: 'local' };
  }

  /**
   * The charges that the store can still decide, and those to decide in this process, where the policies let the others
   * pass; throws where they do not.
   */
  #undecided(
    error: unknown,
    charges: readonly Charge[],
    beforeThrow?: () => void,
  ): { readonly decidable: readonly Charge[]; readonly local: readonly Charge[] } {
    if (!(error instanceof StoreUnavailableError)) throw error;
    const kept =
      error instanceof StoreFullError ? charges.filter((charge) => !error.untracked.has(logName(charge))) : [];
    // A store that is full for none of the charges would be asked the same for ever.
    const decidable = kept.length < charges.length ? kept : [];
    const lost = charges.filter((charge) => !decidable.includes(charge));
    if (!lost.some((charge) => this.#policyOf(charge) === 'deny')) {
      return { decidable, local: this.#decidedLocally(lost) };
    }
    beforeThrow?.();
    throw error;
  }

  /** What the store admitted, unless this process admitted too much while it decided alone. */
  #confirmed(local: LocalFallback, decision: Allowed, request: ConsumeRequest): Decision {
    const { id, budgets, receipt, memoryAgeMs } = decision;
    const charges = this.#rememberedOf(request.charges);
    if (charges.length === 0) return { allowed: true, id, budgets, receipt: receiptOf({ receipt }), memoryAgeMs };
    const rememberedAt = local.now();
    const denied = local.confirm(request.id, charges, rememberedAt, memoryAgeMs);
    if (!denied) return { allowed: true, id, budgets, receipt: receiptOf({ rememberedAt, receipt }), memoryAgeMs };
    this.#giveBack({ ...request, receipt });
    // A fence may have taken a share for it.
    local.refund(request);
    return { ...denied, decidedBy: 'local' };
  }

  #policyOf(charge: Charge): StoreErrorPolicy {
    return charge.onStoreError ?? this.#onStoreError;
  }

  #rememberedOf(charges: readonly Charge[]): readonly Charge[] {
    return this.#remembersAll ? charges : this.#decidedLocally(charges);
  }

  #decidedLocally(charges: readonly Charge[]): readonly Charge[] {
    const isLocal = (charge: Charge): boolean => this.#policyOf(charge) === 'local';
    return charges.every(isLocal) ? charges : charges.filter(isLocal);
  }

  #giveBack({ id, charges, receipt }: RefundRequest): void {
    this.#inner.refund({ id, charges, receipt }).catch(() => undefined);
  }

  async #observed<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      this.#events.answered();
      return answer;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  #note(error: unknown, withinMs?: number): void {
    if (error instanceof StoreUnavailableError && !isHurried(error, withinMs)) this.#events.failed(error);
  }
}

/** Failures after which the call may have been charged all the same. */
const UNANSWERED: ReadonlySet<StoreFailureKind> = new Set(['timeout', 'connection']);

const noTimeLeft = (): StoreUnavailableError => new StoreUnavailableError('timeout', 'no time is left for this call');
