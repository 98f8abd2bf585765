import type { StoreFailureKind, StoreUnavailableError } from '../core/errors.ts';
import type { StoreEvent } from '../core/store-event.ts';

/** Failures that say nothing about the next request. */
const OF_ONE_REQUEST: ReadonlySet<StoreFailureKind> = new Set(['full', 'wrong-type', 'cross-slot']);
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

  /** @param now milliseconds */
  constructor(listener: (event: StoreEvent) => void, now: () => number) {
    this.#listener = listener;
    this.#now = now;
  }

  answered(): void {
    if (this.#isAvailable || this.#now() - this.#failedAt < CALM_MS) return;
    this.#isAvailable = true;
    this.#listener({ type: 'available' });
  }

  failed(error: StoreUnavailableError): void {
    const now = this.#now();
    if (OF_ONE_REQUEST.has(error.kind)) {
      if (now - (this.#toldAt.get(error.kind) ?? -Infinity) < QUIET_MS) return;
      this.#toldAt.set(error.kind, now);
    } else {
      this.#failedAt = now;
      if (!this.#isAvailable) return;
      this.#isAvailable = false;
    }
    this.#listener({ type: 'unavailable', error });
  }
}
