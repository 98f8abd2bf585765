import type { Charge } from '../core/charge.ts';
import type { Decision, Preview } from '../core/decision.ts';
import { isOfOneRequest, StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import type { CircuitState } from '../core/store-health.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

/** How much one call weighs in the average of latencies. */
const LATENCY_WEIGHT = 0.1;
/** A timeout after less time than this says nothing about the store. */
const LEAST_FAIR_MS = 10;

/** Whether the call had so little time that its failure says nothing about the store. */
export const isHurried = ({ kind }: StoreUnavailableError, withinMs = Infinity): boolean =>
  kind === 'timeout' && withinMs < LEAST_FAIR_MS;

/**
 * Does not ask a store that failed lately, but for a trial now and then: StoreUnavailableError of kind `circuit-open`.
 * Only decisions are trials that close it, and only they open it: a server that takes no writes still answers `peek`.
 * Refunds are tried in any case: a call that came too late has to be given back.
 */
export class CircuitBreakerStore implements RateLimitStore {
  readonly #inner: RateLimitStore;
  readonly #breaker: CircuitBreaker;
  #lastError: StoreUnavailableError | undefined;
  #latencyMs: number | undefined;

  constructor(inner: RateLimitStore, breaker: CircuitBreaker = new CircuitBreaker()) {
    this.#inner = inner;
    this.#breaker = breaker;
  }

  get circuit(): CircuitState {
    return this.#breaker.state;
  }

  /** Milliseconds that decisions take lately, a moving average; undefined before the first. */
  get latencyMs(): number | undefined {
    return this.#latencyMs;
  }

  async consume(request: ConsumeRequest): Promise<Decision> {
    if (!this.#breaker.admits()) throw this.#circuitOpen();
    const askedAt = performance.now();
    try {
      const decision = await this.#inner.consume(request);
      this.#breaker.succeeded();
      this.#noteLatency(performance.now() - askedAt);
      return decision;
    } catch (error) {
      this.#note(error, request.withinMs);
      throw error;
    }
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    if (!this.#breaker.isPassable) throw this.#circuitOpen();
    return this.#inner.peek(charges);
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#inner.refund(request);
  }

  async reset(charges: readonly Charge[]): Promise<void> {
    if (!this.#breaker.isPassable) throw this.#circuitOpen();
    return this.#inner.reset(charges);
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }

  #circuitOpen(): StoreUnavailableError {
    const cause = this.#lastError;
    return new StoreUnavailableError('circuit-open', `the store failed lately: ${cause?.message}`, { cause });
  }

  #noteLatency(tookMs: number): void {
    const latencyMs = this.#latencyMs ?? tookMs;
    this.#latencyMs = latencyMs + LATENCY_WEIGHT * (tookMs - latencyMs);
  }

  #note(error: unknown, withinMs: number | undefined): void {
    // A request at fault may never have reached the store.
    if (!(error instanceof StoreUnavailableError) || isHurried(error, withinMs)) return this.#breaker.abandoned();
    if (isOfOneRequest(error)) return this.#breaker.succeeded();
    this.#lastError = error;
    this.#breaker.failed();
  }
}
