/**
 * The commands of the articles' scripts, in their order. ARGV: now, window and limit, the first two in the unit of the
 * article's clock, then the window in seconds.
 */
const script = (member: string): string => `
  local now, window, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - window)
  if redis.call('ZCARD', KEYS[1]) >= limit then return 0 end
  ${member}
  redis.call('ZADD', KEYS[1], now, member)
  redis.call('EXPIRE', KEYS[1], tonumber(ARGV[4]))
  return 1`;

export const FIRST_ARTICLE_LUA = script('local member = now');
export const SECOND_ARTICLE_LUA = script("math.randomseed(now) local member = now .. '-' .. math.random(1000000)");
