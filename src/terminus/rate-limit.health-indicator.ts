import { Inject, Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import type { StoreHealth } from '../core/store-health.ts';
import { RateLimiter } from '../nest/rate-limiter.ts';
import type { StandaloneRule } from '../nest/standalone-rule.ts';

/**
 * What the store is asked: a whole decision, since a server that answers may still refuse to write. It takes from a
 * budget of its own, whatever the defaults of the module are, and is gone after a second.
 */
const PROBE: StandaloneRule = {
  bucket: 'floodgate.health',
  window: '1s',
  limit: 100,
  cost: 1,
  onStoreError: 'allow',
};

/** Whether the store of the rate limits decides, for health checks of `@nestjs/terminus`. A provider of your module. */
@Injectable()
export class RateLimitHealthIndicator {
  readonly #limiter: RateLimiter;
  readonly #indicators: HealthIndicatorService;

  constructor(
    @Inject(RateLimiter) limiter: RateLimiter,
    @Inject(HealthIndicatorService) indicators: HealthIndicatorService,
  ) {
    this.#limiter = limiter;
    this.#indicators = indicators;
  }

  /**
   * Asks the store for one decision, for at most `decisionTimeout`. Never rejects.
   *
   * @param key what the result is filed under
   * @returns `up` with `circuit` and, once it is known, `latencyMs`; or `down` with `circuit`, and the `kind` and
   *   `message` of the last failure. The message of an `unknown` one may quote anything, so it is left to the log.
   */
  async isHealthy<Key extends string>(key: Key): Promise<HealthIndicatorResult<Key>> {
    const check = this.#indicators.check(key);
    const isAnswered = await this.#limiter.consume(PROBE, 'health').then(
      () => true,
      () => false,
    );
    const health = this.#limiter.health();
    const { state, circuit, latencyMs } = health;
    if (!isAnswered || state === 'unavailable') return check.down({ circuit, ...failureOf(health) });
    return check.up({ circuit, ...(latencyMs !== undefined && { latencyMs }) });
  }
}

/** The last failure as anybody may read it. */
function failureOf({ lastError }: StoreHealth): { readonly kind: string; readonly message: string } {
  const isHarmless = lastError && lastError.kind !== 'unknown';
  return isHarmless
    ? { kind: lastError.kind, message: lastError.message }
    : { kind: 'unknown', message: 'the store cannot decide' };
}
