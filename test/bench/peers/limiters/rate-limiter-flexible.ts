import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes, type IRateLimiterStoreOptions } from 'rate-limiter-flexible';
import type { Rule } from '../../store/workload.ts';
import type { Decide, Limiter } from '../limiter.ts';

function deciding(redis: Redis, { limit, windowMs }: Rule, options: Partial<IRateLimiterStoreOptions>): Decide {
  // It counts windows in whole seconds.
  const duration = Math.ceil(windowMs / 1_000);
  const points = Math.ceil((limit * duration * 1_000) / windowMs);
  const limiter = new RateLimiterRedis({ storeClient: redis, points, duration, ...options });
  return async (key) => {
    try {
      await limiter.consume(key);
      return true;
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return false;
      throw refusal;
    }
  };
}

export const rateLimiterFlexible: Limiter = (redis, rule) => deciding(redis, rule, { keyPrefix: 'plain' });

/** Remembers in the process who is refused, until the window ends. */
export const rateLimiterFlexibleWithBlock: Limiter = (redis, rule) =>
  deciding(redis, rule, { keyPrefix: 'block', inMemoryBlockOnConsumed: rule.limit + 1 });
