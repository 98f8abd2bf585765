import type { Redis } from 'ioredis';
import { createRequire } from 'node:module';
import type { Limiter } from '../limiter.ts';

interface Hits {
  readonly current: number;
}

/** The store that the plug-in keeps to itself, with the arguments that it gives it. */
interface InternalStore {
  incr(key: string, done: (error: Error | null, hits: Hits) => void, windowMs: number, limit: number): void;
}

const InternalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/RedisStore.js') as new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  redis: Redis,
) => InternalStore;

/** What the plug-in asks of its store. */
export const fastifyRateLimit: Limiter = (redis, { limit, windowMs }) => {
  const store = new InternalStore(false, false, redis);
  return (key) =>
    new Promise((resolve, reject) => {
      const done = (error: Error | null, hits: Hits): void => (error ? reject(error) : resolve(hits.current <= limit));
      store.incr(key, done, windowMs, limit);
    });
};
