import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import type { Limiter } from '../limiter.ts';

/** What its guard asks of the storage, with the length of a block that the guard has by default. */
export const throttler: Limiter = (redis, { limit, windowMs }) => {
  const storage = new ThrottlerStorageRedisService(redis);
  return async (key) => !(await storage.increment(key, windowMs, limit, windowMs, 'default')).isBlocked;
};
