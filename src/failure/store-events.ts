import { isOfOneRequest, type StoreFailureKind, type StoreUnavailableError } from '../core/errors.ts';
import type { StoreEvent } from '../core/store-event.ts';
import type { StoreHealth } from '../core/store-health.ts';

/** How long a store must not have failed before it is said to be available again: some calls succeed in any outage. */
const CALM_MS = 1_000;
/** How long failures of single requests are not told again. */
const QUIET_MS = 60_000;

/** Tells changes of state, however many requests notice them. */
export class StoreEvents {
  readonly #listener: (event: StoreEvent) => void;
  readonly #now: () => number;
  readonly #toldAt = new Map<StoreFailureKind, number>();
  #isAvailable = true;
  #failedAt = -Infinity;
  #since = Date.now();
  #lastError: StoreUnavailableError | undefined;

  /** @param now milliseconds, for tests */
  constructor(listener: (event: StoreEvent) => void, now = () => performance.now()) {
    this.#listener = listener;
    this.#now = now;
  }

  get health(): Pick<StoreHealth, 'state' | 'since' | 'lastError'> {
    const lastError = this.#lastError && { lastError: this.#lastError };
    return { state: this.#isAvailable ? 'available' : 'unavailable', since: this.#since, ...lastError };
  }

  answered(): void {
    if (this.#isAvailable || this.#now() - this.#failedAt < CALM_MS) return;
    this.#isAvailable = true;
    this.#since = Date.now();
    this.#listener({ type: 'available' });
  }

  failed(error: StoreUnavailableError): void {
    const now = this.#now();
    if (isOfOneRequest(error)) {
      if (now - (this.#toldAt.get(error.kind) ?? -Infinity) < QUIET_MS) return;
      this.#toldAt.set(error.kind, now);
    } else {
      this.#failedAt = now;
      // An open circuit only repeats what opened it.
      if (error.kind !== 'circuit-open') this.#lastError = error;
      if (!this.#isAvailable) return;
      this.#isAvailable = false;
      this.#since = Date.now();
    }
    this.#listener({ type: 'unavailable', error });
  }
}
