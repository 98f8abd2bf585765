import type { Options } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { RedisStore, type RedisReply } from 'rate-limit-redis';
import type { Limiter } from '../limiter.ts';

export const redisStoreOf = (redis: Redis): RedisStore =>
  new RedisStore({
    sendCommand: (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<RedisReply>,
  });

/** What the middleware asks of its store. */
export const expressRateLimit: Limiter = async (redis, { limit, windowMs }) => {
  const store = redisStoreOf(redis);
  await store.init({ windowMs } as Options);
  return async (key) => (await store.increment(key)).totalHits <= limit;
};
