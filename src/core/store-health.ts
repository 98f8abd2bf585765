import type { StoreUnavailableError } from './errors.ts';
import type { RateLimitStore } from './rate-limit-store.ts';

/** `closed`: the store is asked. `open`: it is not, since it failed lately. `half-open`: one call is trying it. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** How a store does. */
export interface StoreHealth {
  /** Whether the store decides, or failure policies do. */
  readonly state: 'available' | 'unavailable';
  /** Since when; milliseconds since 1970. */
  readonly since: number;
  /** Whether the store is asked. */
  readonly circuit: CircuitState;
  /** Milliseconds that its decisions take lately, a moving average; absent before the first. */
  readonly latencyMs?: number;
  /** The last failure that was no matter of a single request, if there was one. */
  readonly lastError?: StoreUnavailableError;
}

/** A store whose failures are dealt with, and that tells how it does. */
export interface SupervisedStore extends RateLimitStore {
  /** How the store does at this moment; asks it nothing. */
  health(): StoreHealth;
}
