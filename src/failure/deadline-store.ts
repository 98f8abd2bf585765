import type { Charge } from '../core/charge.ts';
import { within } from '../core/deadline.ts';
import type { Decision, Preview } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { DeadlineQueue } from './deadline-queue.ts';

/** Calls that began in one period of time. */
interface Calls {
  readonly since: number;
  underWay: number;
}

/** A store that does not close must not keep an application from ending. */
const LONGEST_CLOSE_MS = 5_000;
const COUNTED_FOR_MS = 2_000;
/** So many calls without an answer are more than a store in health lets come together; more would only take memory. */
const MOST_UNDER_WAY = 10_000;

/**
 * Answers in time, whatever the store behind it does: StoreUnavailableError of kind `timeout` at the deadline, and of
 * kind `overloaded` at once when {@link MOST_UNDER_WAY} calls wait for an answer, those that were given up among them.
 */
export class DeadlineStore implements RateLimitStore {
  readonly #inner: RateLimitStore;
  readonly #deadlineMs: number;
  readonly #deadlines: DeadlineQueue;
  #calls: Calls = { since: -Infinity, underWay: 0 };
  #callsBefore: Calls = this.#calls;

  constructor(inner: RateLimitStore, deadlineMs: number) {
    this.#inner = inner;
    this.#deadlineMs = deadlineMs;
    this.#deadlines = new DeadlineQueue(deadlineMs);
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    const withinMs = Math.min(this.#deadlineMs, request.withinMs ?? Infinity);
    const { id, charges } = request;
    return this.#inTime(withinMs, () => this.#inner.consume({ id, charges, withinMs }));
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#inTime(this.#deadlineMs, () => this.#inner.peek(charges));
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#inTime(this.#deadlineMs, () => this.#inner.refund(request));
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#inTime(this.#deadlineMs, () => this.#inner.reset(charges));
  }

  async close(): Promise<void> {
    const closed = this.#inner.close?.();
    if (closed) await within(LONGEST_CLOSE_MS, closed, () => timeout(LONGEST_CLOSE_MS)).catch(() => undefined);
  }

  #inTime<T>(ms: number, ask: () => Promise<T>): Promise<T> {
    const calls = this.#callsOfNow();
    if (calls.underWay + this.#callsBefore.underWay >= MOST_UNDER_WAY) {
      return Promise.reject(new StoreUnavailableError('overloaded', `${MOST_UNDER_WAY} calls wait for the store`));
    }
    calls.underWay++;
    // Calls with less time than the others are few: they take a queue of their own.
    const deadlines = ms === this.#deadlineMs ? this.#deadlines : new DeadlineQueue(ms);
    return new Promise((resolve, reject) => {
      const waiting = deadlines.begin(() => reject(timeout(ms)));
      ask().then(
        (answer) => {
          calls.underWay--;
          deadlines.end(waiting);
          resolve(answer);
        },
        (error: Error) => {
          calls.underWay--;
          deadlines.end(waiting);
          reject(error);
        },
      );
    });
  }

  /** Some stores never settle what they were asked: after a while, those calls are not counted any more. */
  #callsOfNow(): Calls {
    const now = performance.now();
    if (now - this.#calls.since > COUNTED_FOR_MS) {
      this.#callsBefore = this.#calls;
      this.#calls = { since: now, underWay: 0 };
    }
    return this.#calls;
  }
}

const timeout = (ms: number): StoreUnavailableError =>
  new StoreUnavailableError('timeout', `no answer from the store within ${Math.round(ms)} ms`);
