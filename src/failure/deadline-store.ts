import type { Charge } from '../core/charge.ts';
import { within } from '../core/deadline.ts';
import type { Decision, Preview } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';

/** Answers in time, whatever the store behind it does: StoreUnavailableError of kind `timeout` at the deadline. */
export class DeadlineStore implements RateLimitStore {
  readonly #inner: RateLimitStore;
  readonly #deadlineMs: number;

  constructor(inner: RateLimitStore, deadlineMs: number) {
    this.#inner = inner;
    this.#deadlineMs = deadlineMs;
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    return this.#inTime(this.#inner.consume(request));
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#inTime(this.#inner.peek(charges));
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#inTime(this.#inner.refund(request));
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#inTime(this.#inner.reset(charges));
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    return within(
      this.#deadlineMs,
      answer,
      () => new StoreUnavailableError('timeout', `no answer from the store within ${this.#deadlineMs} ms`),
    );
  }
}
