import { MAX_LIMIT } from '../../../src/core/charge.ts';
import { OURS, PEERS, PLAIN_LOG, type LimiterName } from '../limiter-name.ts';
import type { RedisUnderTest } from '../setup/redis-under-test.ts';
import type { FillQuestion } from '../store/questions.ts';
import { startLimiter } from '../store/measure.ts';

/** What one key takes in Redis when its limit is used up. */
export interface KeyMemory {
  readonly limiter: LimiterName;
  readonly limit: number;
  /** All that the limiter keeps for it, names included. */
  readonly bytes: number;
}

export const LIMITS = [10, 100, 1_000, 10_000, 1_000_000] as const;

export async function measureMemory(redis: RedisUnderTest, mostLimit: number): Promise<readonly KeyMemory[]> {
  const found: KeyMemory[] = [];
  for (const limiter of [OURS, ...PEERS, PLAIN_LOG] as const) {
    const child = await startLimiter(limiter, redis.url);
    try {
      for (const limit of LIMITS) {
        if (limit > mostLimit || (limiter === OURS && limit > MAX_LIMIT)) continue;
        await redis.admin.flushall();
        await child.ask(fillingOf(limiter, limit));
        found.push({ limiter, limit, bytes: await bytesOfAllKeys(redis) });
      }
    } finally {
      await child.stop();
    }
  }
  return found;
}

const HOUR_MS = 3_600_000;

/**
 * One that counts in slices of the window takes most when there was a request in each: its requests come evenly over
 * the window, which is as short as it can keep up with. To the others it is all the same.
 */
function fillingOf(limiter: LimiterName, limit: number): FillQuestion {
  if (limiter !== OURS) return { phase: 'fill', rule: { limit, windowMs: HOUR_MS }, forMs: 0 };
  const windowMs = Math.max(2_500, limit / 10);
  return { phase: 'fill', rule: { limit, windowMs }, forMs: windowMs };
}

async function bytesOfAllKeys({ admin }: RedisUnderTest): Promise<number> {
  const keys = await admin.keys('*');
  if (keys.length === 0) throw new Error('nothing is kept of a key whose limit is used up');
  // All entries are counted, not a sample of them.
  const sizes = await Promise.all(keys.map((key) => admin.memory('USAGE', key, 'SAMPLES', 0)));
  return sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
}
