import type { CircuitState } from '../core/store-health.ts';

const FAILURES_TO_OPEN = 5;
/** Failures that come so close together, milliseconds, are one: of the requests of one call, or of one stall. */
const ONE_FAILURE_MS = 10;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 500;

/** Where time and chance come from, for tests. */
export interface CircuitBreakerOptions {
  /** Milliseconds. */
  readonly now?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/**
 * Keeps an outage from costing every call a wait: after {@link FAILURES_TO_OPEN} failures in a row no call is made but
 * single trials, in pauses that double and are shortened by chance by up to a quarter, so that processes do not try
 * together. The first success closes it.
 *
 * The pattern is M. Nygard's (Release It!, "Circuit Breaker"). Libraries of it cost as little (cockatiel 3 as much as this,
 * opossum 9 three times, per call); but they count the requests of one failed call one by one, and would be a dependency
 * of everybody who installs this, for these few lines.
 */
export class CircuitBreaker {
  readonly #now: () => number;
  readonly #random: () => number;
  #state: CircuitState = 'closed';
  #failures = 0;
  #failedAt = -Infinity;
  #pauseMs = FIRST_PAUSE_MS;
  #trialAt = 0;

  constructor({ now = () => performance.now(), random = Math.random }: CircuitBreakerOptions = {}) {
    this.#now = now;
    this.#random = random;
  }

  get state(): CircuitState {
    return this.#state;
  }

  /** Whether {@link admits} would say yes, with nothing begun. */
  get isPassable(): boolean {
    return this.#state === 'closed' || (this.#state === 'open' && this.#now() >= this.#trialAt);
  }

  /** Whether a call may be made. A yes while it is open begins a trial: its outcome has to be told. */
  admits(): boolean {
    if (!this.isPassable) return false;
    if (this.#state === 'open') this.#state = 'half-open';
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#failedAt = -Infinity;
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** The trial told nothing: another one may begin at once. */
  abandoned(): void {
    if (this.#state !== 'half-open') return;
    this.#state = 'open';
    this.#trialAt = this.#now();
  }

  /** Also of calls that were made before it opened: while it is open, those change nothing. */
  failed(): void {
    const now = this.#now();
    if (this.#state === 'closed' && now - this.#failedAt < ONE_FAILURE_MS) return;
    this.#failedAt = now;
    this.#failures++;
    if (this.#state === 'open' || (this.#state === 'closed' && this.#failures < FAILURES_TO_OPEN)) return;
    if (this.#state === 'half-open') this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    this.#state = 'open';
    this.#trialAt = now + this.#pauseMs * (1 - this.#random() / 4);
  }
}
