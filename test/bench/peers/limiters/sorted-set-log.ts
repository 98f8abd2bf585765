import type { Limiter } from '../limiter.ts';

const SCRIPT = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
  redis.call('ZADD', KEYS[1], now, ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
`;

/** An entry for each request: what an exact log costs without more thought. */
export const sortedSetLog: Limiter = async (redis, { limit, windowMs }) => {
  const sha = (await redis.script('LOAD', SCRIPT)) as string;
  let calls = 0;
  return async (key) => {
    const member = (calls++).toString(36).padStart(16, '0');
    return (await redis.evalsha(sha, 1, key, limit, windowMs, member)) === 1;
  };
};
