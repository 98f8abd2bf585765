import type { Algorithm, Limiter } from './limiter.ts';

/**
 * What the articles' scripts have in common: a sorted set in which the time of a request is both its score and, in
 * effect, its member. They drop the scores up to now − window (ZREMRANGEBYSCORE includes both ends), count all members
 * (ZCARD), and admit while the count is below the limit. A request in the same tick as an earlier one only writes the
 * same member again, so however many there are, they count as one.
 *
 * Their EXPIRE of one window, renewed by each admission, changes nothing: when it strikes, every score has just left
 * the window.
 */
function timeAsMember(tickMs: number, limit: number, windowMs: number): Limiter {
  const windowTicks = windowMs / tickMs;
  const members = new Set<number>();
  return (nowMs) => {
    const now = Math.floor(nowMs / tickMs);
    for (const score of members) if (score <= now - windowTicks) members.delete(score);
    if (members.size >= limit) return false;
    members.add(now);
    return true;
  };
}

/**
 * The first article: the clock is read in whole seconds, and the second is the member. The comparison sign of its
 * script is lost in print; "below the limit" is the reading under which it refuses anything at all, since a window of
 * 10 s never holds more than 10 different seconds.
 */
export const firstArticle: Algorithm = (limit, windowMs) => timeAsMember(1_000, limit, windowMs);

/**
 * The second article: the clock is read in milliseconds, and the member is the millisecond with a random number
 * behind it. The generator is seeded with that millisecond just before, so the number is the same for all requests
 * of it.
 */
export const secondArticle: Algorithm = (limit, windowMs) => timeAsMember(1, limit, windowMs);
