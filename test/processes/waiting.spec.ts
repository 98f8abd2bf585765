import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startChild, type Child } from '../support/child.ts';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import type { WaitingOutcome, WaitingWork } from './waiter.ts';

const PROCESSES = 4;
const CALLS = 1_000;
const LIMIT = 50;
/** One second by hand: `WAITING_WINDOW_MS=1000 npm test -- test/processes/waiting`. */
const WINDOW_MS = Number(process.env.WAITING_WINDOW_MS ?? 200);

describe('1,000 calls of four processes that wait for a limit of 50', () => {
  let server: RedisServer;
  let admin: Redis;
  let children: readonly Child[];

  beforeAll(async () => {
    server = await startRedisServer();
    admin = new Redis(server.url);
    const start = () => startChild(new URL('waiter.ts', import.meta.url), { REDIS_URL: server.url, KEY_PREFIX: 'rl' });
    children = await Promise.all(Array.from({ length: PROCESSES }, start));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(children.map((child) => child.stop()));
    await admin.quit();
    await server.stop();
  });

  /** How often Redis was asked for a decision. */
  const scriptCalls = async (): Promise<number> => {
    const stats = await admin.info('commandstats');
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
  };

  it('end in the least number of windows, in the order of each process, with few store calls', async () => {
    const before = await scriptCalls();
    const work: WaitingWork = {
      calls: CALLS / PROCESSES,
      limit: LIMIT,
      window: `${WINDOW_MS}ms`,
      startAt: Date.now() + 100,
    };
    const outcomes = await Promise.all(children.map((child) => child.ask<WaitingOutcome>(work)));
    const calls = (await scriptCalls()) - before;
    const admissions = outcomes.flatMap(({ admittedAt }) => admittedAt.map((at) => ({ at, units: 1 })));
    const moments = admissions.map(({ at }) => at);
    const windows = (Math.max(...moments) - Math.min(...moments)) / (WINDOW_MS * 1_000);
    if (process.env.WAITING_WINDOW_MS) console.log({ windows, calls });

    expect(outcomes.flatMap(({ others }) => others)).toEqual([]);
    const inOrder = Array.from({ length: work.calls }, (_, call) => call);
    for (const { order } of outcomes) expect(order).toEqual(inOrder);
    expect(admissions).toHaveLength(CALLS);
    expect(mostAdmittedInAnyWindow(admissions, WINDOW_MS * 1_000)).toBe(LIMIT);
    expect(calls).toBeLessThanOrEqual(2 * CALLS);
    // The first window costs no time. Each may begin late by its jitter, and by what a busy machine takes.
    const leastWindows = CALLS / LIMIT - 1;
    expect(windows).toBeGreaterThanOrEqual(leastWindows);
    expect(windows).toBeLessThan(leastWindows * 1.5);
  }, 60_000);
});
