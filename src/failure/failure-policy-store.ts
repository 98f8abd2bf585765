import { logName, type Charge } from '../core/charge.ts';
import type { Decision, Preview } from '../core/decision.ts';
import { StoreFullError, StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import type { StoreEvent } from '../core/store-event.ts';
import type { StoreErrorPolicy } from '../core/store-error-policy.ts';
import { StoreEvents } from './store-events.ts';

export interface FailurePolicyOptions {
  /** For charges that name no policy of their own. */
  readonly onStoreError: StoreErrorPolicy;
  /** Must not throw. */
  readonly onEvent: (event: StoreEvent) => void;
  /** Why the store is unavailable from the start, if it is. */
  readonly failure?: StoreUnavailableError;
  /** Milliseconds, for tests. */
  readonly now?: () => number;
}

/**
 * Lets the policy of the charges decide when the store cannot: the call is allowed, with nothing known of its
 * budgets, unless one of its charges says `deny`; the error is passed on then, and what the call may have been charged
 * after all is given back once, best effort.
 */
export class FailurePolicyStore implements RateLimitStore {
  readonly #inner: RateLimitStore;
  readonly #onStoreError: StoreErrorPolicy;
  readonly #events: StoreEvents;

  constructor(inner: RateLimitStore, { onStoreError, onEvent, failure, now }: FailurePolicyOptions) {
    this.#inner = inner;
    this.#onStoreError = onStoreError;
    this.#events = new StoreEvents(onEvent, now ?? (() => performance.now()));
    if (failure) this.#events.failed(failure);
  }

  async consume(request: ConsumeRequest): Promise<Decision> {
    const { id, charges } = request;
    try {
      return await this.#observed(() => this.#inner.consume(request));
    } catch (error) {
      const decidable = this.#decidable(error, charges, () => this.#giveBack(error, request));
      return decidable.length > 0
        ? this.consume({ ...request, charges: decidable })
        : { allowed: true, id, budgets: [] };
    }
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    try {
      return await this.#observed(() => this.#inner.peek(charges));
    } catch (error) {
      const decidable = this.#decidable(error, charges);
      return decidable.length > 0 ? this.peek(decidable) : { allowed: true, budgets: [] };
    }
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#observed(() => this.#inner.refund(request));
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#observed(() => this.#inner.reset(charges));
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  /** The charges that the store can still decide, where the policies let the others pass; throws where they do not. */
  #decidable(error: unknown, charges: readonly Charge[], beforeThrow?: () => void): readonly Charge[] {
    if (!(error instanceof StoreUnavailableError)) throw error;
    const kept =
      error instanceof StoreFullError ? charges.filter((charge) => !error.untracked.has(logName(charge))) : [];
    // A store that is full for none of the charges would be asked the same for ever.
    const decidable = kept.length < charges.length ? kept : [];
    const lost = charges.filter((charge) => !decidable.includes(charge));
    if (!lost.some((charge) => (charge.onStoreError ?? this.#onStoreError) === 'deny')) return decidable;
    beforeThrow?.();
    throw error;
  }

  #giveBack(error: unknown, { id, charges }: ConsumeRequest): void {
    if (error instanceof StoreUnavailableError && error.kind === 'timeout') {
      this.#inner.refund({ id, charges }).catch(() => undefined);
    }
  }

  async #observed<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      this.#events.answered();
      return answer;
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#events.failed(error);
      throw error;
    }
  }
}
