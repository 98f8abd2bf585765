import type { Charge } from '../../src/core/charge.ts';
import type { Decision, Preview } from '../../src/core/decision.ts';
import { StoreUnavailableError, type StoreFailureKind } from '../../src/core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../../src/core/rate-limit-store.ts';

/**
 * The way of one process to a store that several may share. It fails as it is told: `timeout` loses the answers of
 * calls that the store has served, any other failure the calls themselves.
 */
export class FailingLink implements RateLimitStore {
  failure: StoreFailureKind | undefined;
  /** What the store answered last, whether or not the answer arrived. */
  decision: Decision | undefined;
  readonly refunds: RefundRequest[] = [];
  readonly #store: RateLimitStore;

  constructor(store: RateLimitStore) {
    this.#store = store;
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    return this.#pass(async () => (this.decision = await this.#store.consume(request)));
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#pass(() => this.#store.peek(charges));
  }

  refund(request: RefundRequest): Promise<void> {
    this.refunds.push(request);
    return this.#pass(() => this.#store.refund(request));
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#pass(() => this.#store.reset(charges));
  }

  async #pass<T>(ask: () => Promise<T>): Promise<T> {
    const { failure } = this;
    const answer = failure === undefined || failure === 'timeout' ? await ask() : undefined;
    if (failure !== undefined) throw new StoreUnavailableError(failure, `told to fail: ${failure}`);
    return answer!;
  }
}
