import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { charge } from '../contract/store-contract.ts';
import { startChild, type Child } from '../support/child.ts';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import { useRedis } from '../support/redis.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import type { Outcome, Work } from './consumer.ts';
import { Redis } from 'ioredis';

const { client, keyPrefix, url } = useRedis();

const SLOW = 60_000;

describe('several processes on one Redis', () => {
  // The last one's Date is 5 s ahead; they start once, since that takes longer than what they do.
  const SHIFTS_MS = [0, 0, 0, 0, 5_000];
  let children: readonly Child[];

  beforeAll(async () => {
    children = await Promise.all(SHIFTS_MS.map((shiftMs) => start(url, shiftMs)));
  }, SLOW);
  afterAll(() => Promise.all(children.map((child) => child.stop())));

  it.each([
    ['of one clock', [0, 1, 2, 3]],
    ['of which one is 5 s ahead', [1, 2, 3, 4]],
  ])('admit exactly 50 of 500 calls in one instant, %s', async (_, chosen) => {
    const budget = charge({ limit: 50, windowMs: 10_000 });
    const work = { charge: budget, calls: 125, inFlight: 125 };
    const outcome = await run(
      chosen.map((i) => children[i]!),
      work,
    );
    expect(outcome.errors).toEqual([]);
    expect(outcome.admittedAt).toHaveLength(50);
    expect(outcome.refused).toBe(450);
    expect(await client.zcard(`${keyPrefix}:${budget.key}:${budget.windowMs}`)).toBe(50);
  });

  it.each(['exact', 'compact'] as const)(
    'never exceed the limit of %s logs over many windows, and use it up',
    async (layout) => {
      const budget = charge({ limit: 20, windowMs: 50, layout });
      const outcome = await run(children, { charge: budget, calls: 0, inFlight: 10, forMs: 2_000 });
      const admissions = outcome.admittedAt.map((at) => ({ at, units: 1 }));
      expect(outcome.errors).toEqual([]);
      expect(mostAdmittedInAnyWindow(admissions, budget.windowMs * 1_000)).toBe(20);
      expect(admissions.length).toBeGreaterThan(20 * 20);
    },
  );
});

describe('a server that forgets its scripts every 20 ms', () => {
  let server: RedisServer;
  let admin: Redis;
  let children: readonly Child[];

  beforeAll(async () => {
    server = await startRedisServer();
    admin = new Redis(server.url);
    children = await Promise.all([start(server.url), start(server.url)]);
  }, SLOW);
  afterAll(async () => {
    await Promise.all(children.map((child) => child.stop()));
    await admin.quit();
    await server.stop();
  });

  it(
    'makes no call fail, be lost or count twice',
    async () => {
      const budget = charge({ limit: 5_000, windowMs: 60_000 });
      const flushing = setInterval(() => void admin.script('FLUSH'), 20);
      const outcome = await run(children, { charge: budget, calls: 3_000, inFlight: 20, forMs: 10_000 });
      clearInterval(flushing);
      expect(outcome.errors).toEqual([]);
      expect(outcome.admittedAt).toHaveLength(5_000);
      const stats = await admin.info('errorstats');
      expect(Number(/errorstat_NOSCRIPT:count=(\d+)/.exec(stats)?.[1])).toBeGreaterThan(10);
    },
    SLOW,
  );
});

const start = (redisUrl: string, shiftMs = 0): Promise<Child> =>
  startChild(new URL('consumer.ts', import.meta.url), {
    REDIS_URL: redisUrl,
    KEY_PREFIX: keyPrefix,
    DATE_SHIFT_MS: String(shiftMs),
  });

/** The work of all, begun at one moment. */
async function run(children: readonly Child[], work: Omit<Work, 'startAt'>): Promise<Outcome> {
  const startAt = Date.now() + 100;
  const outcomes = await Promise.all(children.map((child) => child.ask<Outcome>({ ...work, startAt })));
  return {
    admittedAt: outcomes.flatMap(({ admittedAt }) => admittedAt),
    refused: outcomes.reduce((sum, { refused }) => sum + refused, 0),
    errors: outcomes.flatMap(({ errors }) => errors),
  };
}
