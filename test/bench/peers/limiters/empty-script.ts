import type { Limiter } from '../limiter.ts';

/** What one script call on this connection costs at least. */
export const emptyScript: Limiter = async (redis) => {
  const sha = (await redis.script('LOAD', 'return')) as string;
  return async (key) => {
    await redis.evalsha(sha, 1, key);
    return true;
  };
};
