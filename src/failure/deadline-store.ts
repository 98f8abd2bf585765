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
    const withinMs = Math.min(this.#deadlineMs, request.withinMs ?? Infinity);
    if (withinMs <= 0) return Promise.reject(new StoreUnavailableError('timeout', 'no time is left for this call'));
    return inTime(withinMs, this.#inner.consume({ ...request, withinMs }));
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return inTime(this.#deadlineMs, this.#inner.peek(charges));
  }

  refund(request: RefundRequest): Promise<void> {
    return inTime(this.#deadlineMs, this.#inner.refund(request));
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return inTime(this.#deadlineMs, this.#inner.reset(charges));
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }
}

const inTime = <T>(ms: number, answer: Promise<T>): Promise<T> =>
  within(
    ms,
    answer,
    () => new StoreUnavailableError('timeout', `no answer from the store within ${Math.round(ms)} ms`),
  );
