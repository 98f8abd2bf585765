import { describe, expect, it } from '@jest/globals';
import { LuaScript } from '../../src/redis/lua-script.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { charge } from '../contract/store-contract.ts';
import { describeWarmUp } from '../contract/warm-up.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { useRedis } from '../support/redis.ts';

const { client, keyPrefix } = useRedis();

for (const layout of ['exact', 'compact'] as const) {
  describeWarmUp(
    'RedisStore',
    (now, count) => Array.from({ length: count }, () => new RedisStore(client, { keyPrefix, now })),
    layout,
    30,
  );
}

describe('where a climb stands', () => {
  it.each([
    ['what was admitted takes, where it began cold', 0, 1_050],
    ['what was admitted takes, and then the cooling from where it is', 12_800, 8_000],
  ])(
    'is kept as long as %s',
    async (_, usedForMs, keptMs) => {
      const clock = new ManualClock();
      const store = new RedisStore(client, { keyPrefix, now: clock.now });
      const budget = charge({ limit: 90, warmUp: { overMs: 8_000, coldFactor: 3 } });
      let ids = 0;
      for (const end = clock.now() + usedForMs; clock.now() <= end; clock.advance(50)) {
        while ((await store.consume({ id: `k${ids++}`, charges: [budget] })).allowed);
      }
      const expiresMs = await client.pttl(`${keyPrefix}:${budget.key}:1000~warm`);
      // Where tests give the time, keys live a minute longer.
      expect(expiresMs - 60_000).toBeGreaterThan(keptMs - 200);
      expect(expiresMs - 60_000).toBeLessThanOrEqual(keptMs + 1_050);
    },
    60_000,
  );

  it('is kept for a window, where more than fits into one was admitted since limits are rounded up', async () => {
    const clock = new ManualClock();
    const store = new RedisStore(client, { keyPrefix, now: clock.now });
    const budget = charge({ limit: 10, warmUp: { overMs: 1_000_000, coldFactor: 3 } });
    for (let i = 0; i < 4; i++) await store.consume({ id: `k${i}`, charges: [budget] });
    const expiresMs = await client.pttl(`${keyPrefix}:${budget.key}:1000~warm`);
    // The window and its slack, and a third of that in which it cools.
    expect(expiresMs - 60_000).toBeLessThanOrEqual(1_405);
  });

  it('is a key of its own, and none that is no state is taken for one', async () => {
    const store = new RedisStore(client, { keyPrefix });
    const budget = charge({ limit: 90, warmUp: { overMs: 8_000, coldFactor: 3 } });
    const stateKey = `${keyPrefix}:${budget.key}:1000~warm`;
    await client.set(stateKey, 'short', 'PX', 10_000);
    expect(await store.consume({ id: 'a', charges: [budget] })).toMatchObject({ budgets: [{ remaining: 29 }] });
    expect(await client.strlen(stateKey)).toBe(16);
    expect(await client.type(`${keyPrefix}:${budget.key}:1000`)).toBe('zset');
  });

  it('is not kept for what takes nothing', async () => {
    const store = new RedisStore(client, { keyPrefix });
    const budget = charge({ limit: 90, cost: 0, warmUp: { overMs: 8_000, coldFactor: 3 } });
    await store.consume({ id: 'a', charges: [budget] });
    expect(await client.exists(`${keyPrefix}:${budget.key}:1000~warm`)).toBe(0);
  });

  it('is each budget’s own where many are asked for in one call', async () => {
    const store = new RedisStore(client, { keyPrefix });
    const warmUp = { overMs: 8_000, coldFactor: 3 };
    const [plain, climbing, lower] = [
      charge({ limit: 90 }),
      charge({ limit: 90, warmUp }),
      charge({ limit: 90, warmUp: { overMs: 8_000, coldFactor: 9 } }),
    ];
    const charges = [[climbing], [plain], [plain, lower], [lower, climbing]] as const;
    const decisions = await Promise.all(charges.map((each, i) => store.consume({ id: `m${i}`, charges: each })));
    expect(decisions.map(({ budgets }) => budgets.map(({ remaining }) => remaining))).toEqual([
      [29],
      [89],
      [88, 9],
      [8, 28],
    ]);
  });

  it.each([
    ['limit', '129 1000 1 exact~1000~3'],
    ['layout', '10 1000 1 exact~1000~1'],
    ['layout', '10 1000 1 exact~1000~100.5'],
    ['layout', '10 1000 1 exact~0~3'],
    ['layout', '10 1000 1 exact~1000~'],
    ['layout', '10 1000 1 loose~1000~3'],
  ])('is not asked for with a wrong %s: %s', async (name, plan) => {
    const keys = ['log', 'log~warm', 'epoch'].map((key) => `${keyPrefix}:${key}`);
    const script = new LuaScript('consume');
    await expect(script.run(client, keys, ['', 1, plan, 'a', 1])).rejects.toThrow(new RegExp(`floodgate: ${name}`));
  });

  it('is given to a preview with its log', async () => {
    const run = (...keys: readonly string[]) =>
      new LuaScript('peek').run(client, [...keys], ['', 10, 1_000, 1, 'exact~1000~3']);
    const log = `${keyPrefix}:log`;
    await expect(run(log)).rejects.toThrow('1 keys are not those of 1 logs');
    await expect(run(log, `${log}~warm`)).resolves.toEqual([1, 4, 0, 0]);
  });
});
