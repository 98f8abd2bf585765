import type { Charge, ConsumeRequest, Decision, Preview, RateLimitStore, RefundRequest } from 'nestjs-floodgate';

/** Passes every call on to the store behind it, and remembers what was asked. */
export class RecordingStore implements RateLimitStore {
  readonly consumed: ConsumeRequest[] = [];
  readonly refunded: RefundRequest[] = [];
  timesClosed = 0;
  readonly #inner: RateLimitStore;

  constructor(inner: RateLimitStore) {
    this.#inner = inner;
  }

  /** The keys that were charged, in the order in which they were asked for. */
  get chargedKeys(): readonly string[] {
    return this.consumed.flatMap(({ charges }) => charges.map(({ key }) => key));
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    this.consumed.push(request);
    return this.#inner.consume(request);
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#inner.peek(charges);
  }

  refund(request: RefundRequest): Promise<void> {
    this.refunded.push(request);
    return this.#inner.refund(request);
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#inner.reset(charges);
  }

  async close(): Promise<void> {
    this.timesClosed++;
    await this.#inner.close?.();
  }
}
