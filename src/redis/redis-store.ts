import type { Charge } from '../core/charge.ts';
import type { Decision, Preview } from '../core/decision.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { isClusterClient, type RedisClient } from './redis-client.ts';
import { ScriptStore, type ScriptStoreOptions } from './script-store.ts';
import { SlotStore } from './slot-store.ts';

/**
 * Budgets in Redis, one script call for all charges of a request, on the clock of the server. On Redis Cluster one
 * call for each slot. It has no deadline and no failure policy: `createRateLimitStore` puts those around it.
 */
export class RedisStore implements RateLimitStore {
  readonly #scripts: ScriptStore;
  readonly #store: RateLimitStore;

  /** @param client stays the caller's: it is not closed here */
  constructor(client: RedisClient, options: ScriptStoreOptions) {
    this.#scripts = new ScriptStore(client, options);
    this.#store = isClusterClient(client) ? new SlotStore(this.#scripts) : this.#scripts;
  }

  /** Loads the scripts, so that the first calls need no second round trip, and calls one to know that this user may. */
  prepare(): Promise<void> {
    return this.#scripts.prepare();
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    return this.#store.consume(request);
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#store.peek(charges);
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#store.refund(request);
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#store.reset(charges);
  }
}
