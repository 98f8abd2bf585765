import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes, type IRateLimiterStoreOptions } from 'rate-limiter-flexible';
import type { Rule } from '../../store/workload.ts';
import type { Decide, Limiter } from '../limiter.ts';

interface RuleOptions {
  readonly storeClient: Redis;
  readonly points: number;
  /** Whole seconds. */
  readonly duration: number;
}

function optionsFor(redis: Redis, { limit, windowMs }: Rule): RuleOptions {
  const duration = Math.ceil(windowMs / 1_000);
  return { storeClient: redis, duration, points: Math.ceil((limit * duration * 1_000) / windowMs) };
}

function decidingBy(options: IRateLimiterStoreOptions): Decide {
  const limiter = new RateLimiterRedis(options);
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

export const rateLimiterFlexible: Limiter = (redis, rule) =>
  decidingBy({ ...optionsFor(redis, rule), keyPrefix: 'plain' });

/** Remembers in the process who is refused, until the window ends. */
export const rateLimiterFlexibleWithBlock: Limiter = (redis, rule) => {
  const options = optionsFor(redis, rule);
  return decidingBy({ ...options, keyPrefix: 'block', inMemoryBlockOnConsumed: options.points + 1 });
};
