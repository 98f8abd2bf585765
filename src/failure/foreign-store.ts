import type { Charge } from '../core/charge.ts';
import type { Decision, Preview } from '../core/decision.ts';
import { RateLimitRequestError, StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { describeError } from '../core/show.ts';

/**
 * A store that somebody else wrote: whatever it rejects with or throws means that it cannot decide, unless it says that
 * the request is wrong.
 */
export class ForeignStore implements RateLimitStore {
  readonly #inner: RateLimitStore;

  constructor(inner: RateLimitStore) {
    this.#inner = inner;
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    return answerOf(() => this.#inner.consume(request));
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return answerOf(() => this.#inner.peek(charges));
  }

  refund(request: RefundRequest): Promise<void> {
    return answerOf(() => this.#inner.refund(request));
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return answerOf(() => this.#inner.reset(charges));
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }
}

async function answerOf<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof RateLimitRequestError) throw error;
    throw new StoreUnavailableError('unknown', describeError(error), { cause: error });
  }
}
