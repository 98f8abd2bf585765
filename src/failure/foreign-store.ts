import type { Charge } from '../core/charge.ts';
import type { Decision, Preview } from '../core/decision.ts';
import { RateLimitRequestError, StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { describeError, show } from '../core/show.ts';

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
    return answerOf(() => this.#inner.consume(request), isDecision);
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return answerOf(() => this.#inner.peek(charges), isDecision);
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

async function answerOf<T>(ask: () => Promise<T>, isAnswer: (answer: unknown) => boolean = () => true): Promise<T> {
  try {
    const answer = await ask();
    if (!isAnswer(answer))
      throw new StoreUnavailableError('unknown', `the store answers what is no decision: ${show(answer)}`);
    return answer;
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof RateLimitRequestError) throw error;
    throw new StoreUnavailableError('unknown', describeError(error), { cause: error });
  }
}

/** As far as others rely on it. */
function isDecision(answer: unknown): boolean {
  const { allowed, budgets, refusedBy } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(budgets)) return false;
  return allowed === true || (allowed === false && Array.isArray(refusedBy) && refusedBy.length > 0);
}
