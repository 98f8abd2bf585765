import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { ConsumeRequest } from '../../src/core/rate-limit-store.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { charge } from '../contract/store-contract.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import { useRedis } from '../support/redis.ts';

describe('requests that are decided in one call', () => {
  const { client, keyPrefix } = useRedis();
  let runs = 0;

  it('get the answers that they would get one by one', async () => {
    const charges = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b', 'c'),
        limit: fc.integer({ min: 1, max: 4 }),
        windowMs: fc.constantFrom(50, 100),
        cost: fc.integer({ min: 1, max: 3 }),
        layout: fc.constantFrom('exact' as const, 'compact' as const),
      }),
      { minLength: 1, maxLength: 3 },
    );
    const ids = fc.integer({ min: 0, max: 12 });
    const turns = fc.array(
      fc.record({ afterMs: fc.nat(60), requests: fc.array(fc.tuple(ids, charges), { minLength: 1, maxLength: 12 }) }),
      { minLength: 1, maxLength: 6 },
    );
    const property = fc.asyncProperty(turns, async (history) => {
      const run = runs++;
      let now = 1_700_000_000_000;
      const storeOf = (name: string) =>
        new RedisStore(client, { keyPrefix: `${keyPrefix}:${name}${run}`, now: () => now });
      const [together, oneByOne] = [storeOf('together'), storeOf('alone')];
      for (const { afterMs, requests } of history) {
        now += afterMs;
        const asked = requests.map(([id, of]): ConsumeRequest => ({ id: `c${id}`, charges: of }));
        const answers = await Promise.all(asked.map((request) => together.consume(request)));
        for (const [i, request] of asked.entries()) expect(answers[i]).toEqual(await oneByOne.consume(request));
      }
    });
    await fc.assert(property, { numRuns: 60 });
  }, 60_000);

  it('fail alone where a key has the wrong type', async () => {
    const store = new RedisStore(client, { keyPrefix });
    const [fine, broken] = [charge({ limit: 2 }), charge()];
    await client.set(`${keyPrefix}:${broken.key}:${broken.windowMs}`, 'x', 'PX', 60_000);
    const ask = (id: string, ...charges: ConsumeRequest['charges']) => store.consume({ id, charges });
    const answers = await Promise.allSettled([
      ask('a', fine),
      ask('b', fine, broken),
      ask('c', broken),
      ask('d', fine),
    ]);
    expect(answers).toMatchObject([
      { status: 'fulfilled', value: { allowed: true } },
      { status: 'rejected', reason: { name: 'StoreUnavailableError', kind: 'wrong-type' } },
      { status: 'rejected', reason: { kind: 'wrong-type' } },
      { status: 'fulfilled', value: { allowed: true, budgets: [{ remaining: 0 }] } },
    ]);
  });

  it('are sent by their source when the server forgot the script, and each is decided once', async () => {
    const server = await startRedisServer();
    const own = new Redis(server.url);
    await own.ping();
    const store = new RedisStore(own, { keyPrefix });
    const budget = charge({ limit: 50 });
    const ask = (id: string) => store.consume({ id, charges: [budget] });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(`c${i}`)));
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(50);
    own.disconnect();
    await server.stop();
  });
});

describe('a server without memory left', () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedisServer({ args: ['--maxmemory-policy', 'noeviction'] });
    client = new Redis(server.url);
    await client.ping();
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  it('refuses what would be admitted, and goes on refusing what it would, in one call', async () => {
    const store = new RedisStore(client, { keyPrefix: 'rl' });
    const [full, free] = [charge({ limit: 1, windowMs: 60_000 }), charge({ windowMs: 60_000 })];
    await store.consume({ id: 'before', charges: [full] });
    await client.config('SET', 'maxmemory', '1');
    const asked = [full, free, full, free].map((budget, i) => store.consume({ id: `c${i}`, charges: [budget] }));
    expect(await Promise.allSettled(asked)).toMatchObject([
      { status: 'fulfilled', value: { allowed: false } },
      { status: 'rejected', reason: { kind: 'out-of-memory' } },
      { status: 'fulfilled', value: { allowed: false } },
      { status: 'rejected', reason: { kind: 'out-of-memory' } },
    ]);
    expect(await client.exists(`rl:${free.key}:${free.windowMs}`)).toBe(0);
  });
});
