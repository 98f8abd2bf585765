import type { WarmUp } from '../../src/core/warm-up.ts';

/** What is published of a limit that climbs: SmoothRateLimiter.SmoothWarmingUp of Guava, as limits of a window. */

/** The effective limit of a log that was used up for so long since it was cold. */
export const climbed = (limit: number, { overMs, coldFactor }: WarmUp, ageMs: number): number =>
  limit / Math.sqrt(Math.max(1, coldFactor ** 2 - (coldFactor ** 2 - 1) * (ageMs / overMs)));

/** That of one that was idle for so long since no permits were stored. */
export const cooled = (limit: number, { overMs, coldFactor }: WarmUp, idleMs: number): number => {
  // In a window of one millisecond; another would change nothing.
  const threshold = 0.5 * overMs * limit;
  const most = threshold + (2 * overMs * limit) / (1 + coldFactor);
  const stored = Math.min(most, (most * idleMs) / overMs);
  const slope = (coldFactor - 1) / (most - threshold);
  return limit / (1 + Math.max(0, stored - threshold) * slope);
};
