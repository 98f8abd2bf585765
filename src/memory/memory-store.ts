import type { Charge } from '../core/charge.ts';
import type { Decision, Preview } from '../core/decision.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { WindowLogs } from './window-logs.ts';

/** Options of {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /** Live keys that are tracked at most. @default 100_000 */
  readonly maxKeys?: number;
  /** Milliseconds of a clock that never steps back, fractions included. @default performance.now */
  readonly now?: () => number;
}

/**
 * Exact limits within one process, without timers: every call sweeps away a few logs that expired.
 *
 * When `maxKeys` are live, a request on a key that is not tracked rejects with {@link StoreFullError}. Nothing is
 * evicted to make room: whoever invents keys would otherwise flush the record of his own. Keys that no client chooses
 * are tracked in any case.
 */
export class MemoryStore implements RateLimitStore {
  readonly #logs: WindowLogs;

  /** @throws TypeError when `maxKeys` is no positive whole number */
  constructor(options: MemoryStoreOptions = {}) {
    this.#logs = new WindowLogs(options);
  }

  /** How many keys are tracked, live or not yet swept. */
  get size(): number {
    return this.#logs.size;
  }

  async consume(request: ConsumeRequest): Promise<Decision> {
    return this.#logs.consume(request);
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#logs.peek(charges);
  }

  async refund(request: RefundRequest): Promise<void> {
    this.#logs.refund(request);
  }

  async reset(charges: readonly Charge[]): Promise<void> {
    this.#logs.reset(charges);
  }
}
