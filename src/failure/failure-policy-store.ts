import { logName, type Charge } from '../core/charge.ts';
import type { Decision, Preview } from '../core/decision.ts';
import { StoreFullError, StoreUnavailableError, type StoreFailureKind } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import type { StoreErrorPolicy } from '../core/store-error-policy.ts';

/** A change in what the store can do, told once. */
export type StoreEvent =
  { readonly type: 'unavailable'; readonly error: StoreUnavailableError } | { readonly type: 'available' };

export interface FailurePolicyOptions {
  /** For charges that name no policy of their own. */
  readonly onStoreError: StoreErrorPolicy;
  readonly onEvent?: (event: StoreEvent) => void;
  /** Why the store is unavailable from the start, if it is. */
  readonly failure?: StoreUnavailableError;
}

/** Failures that say nothing about the next request: each kind is told once. */
const OF_ONE_REQUEST: ReadonlySet<StoreFailureKind> = new Set(['full', 'wrong-type', 'cross-slot']);

/**
 * Lets the policy of the charges decide when the store cannot: the call is allowed, with nothing known of its
 * budgets, unless one of its charges says `deny`; the error is passed on then, and what the call may have been charged
 * after all is given back once, best effort.
 */
export class FailurePolicyStore implements RateLimitStore {
  readonly #inner: RateLimitStore;
  readonly #options: FailurePolicyOptions;
  readonly #told = new Set<StoreFailureKind>();
  #isAvailable = true;

  constructor(inner: RateLimitStore, options: FailurePolicyOptions) {
    this.#inner = inner;
    this.#options = options;
    if (options.failure) this.#tell({ type: 'unavailable', error: options.failure });
  }

  async consume(request: ConsumeRequest): Promise<Decision> {
    const { id, charges } = request;
    try {
      return await this.#observed(this.#inner.consume(request));
    } catch (error) {
      const decidable = this.#decidable(error, charges, () => {
        if ((error as StoreUnavailableError).kind === 'timeout') this.#inner.refund(request).catch(() => undefined);
      });
      return decidable.length > 0 ? this.consume({ id, charges: decidable }) : { allowed: true, id, budgets: [] };
    }
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    try {
      return await this.#observed(this.#inner.peek(charges));
    } catch (error) {
      const decidable = this.#decidable(error, charges);
      return decidable.length > 0 ? this.peek(decidable) : { allowed: true, budgets: [] };
    }
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#observed(this.#inner.refund(request));
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#observed(this.#inner.reset(charges));
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  /** The charges that the store can still decide, where the policies let the others pass; throws where they do not. */
  #decidable(error: unknown, charges: readonly Charge[], beforeThrow?: () => void): readonly Charge[] {
    if (!(error instanceof StoreUnavailableError)) throw error;
    const isLost = (charge: Charge): boolean =>
      error instanceof StoreFullError ? error.untracked.has(logName(charge)) : true;
    const denied = charges.some(
      (charge) => isLost(charge) && (charge.onStoreError ?? this.#options.onStoreError) === 'deny',
    );
    if (!denied) return charges.filter((charge) => !isLost(charge));
    beforeThrow?.();
    throw error;
  }

  async #observed<T>(answer: Promise<T>): Promise<T> {
    try {
      const value = await answer;
      this.#tell({ type: 'available' });
      return value;
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#tell({ type: 'unavailable', error });
      throw error;
    }
  }

  #tell(event: StoreEvent): void {
    if (event.type === 'unavailable' && OF_ONE_REQUEST.has(event.error.kind)) {
      if (this.#told.has(event.error.kind)) return;
      this.#told.add(event.error.kind);
    } else {
      const isAvailable = event.type === 'available';
      if (isAvailable === this.#isAvailable) return;
      this.#isAvailable = isAvailable;
    }
    this.#options.onEvent?.(event);
  }
}
