import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { luaSources } from '../../lua/embed.mjs';
import { LuaScript } from '../../src/redis/lua-script.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { charge } from '../contract/store-contract.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';

describe('the scripts', () => {
  it('are those of the lua folder: npm run embed:lua writes them', async () => {
    expect(await readFile(new URL('../../src/redis/lua-sources.ts', import.meta.url), 'utf8')).toBe(luaSources());
  });
});

describe('a script', () => {
  let server: RedisServer;
  let client: Redis;

  // A server of its own: what other tests call must not be counted.
  beforeAll(async () => {
    server = await startRedisServer();
    client = new Redis(server.url);
    await client.ping();
  });
  afterAll(async () => {
    await client.quit();
    await server.stop();
  });

  const callsOf = async (command: string): Promise<{ calls: number; failed: number }> => {
    const stats = await client.info('commandstats');
    const match = new RegExp(`cmdstat_${command}:calls=(\\d+).*failed_calls=(\\d+)`).exec(stats);
    return { calls: Number(match?.[1] ?? 0), failed: Number(match?.[2] ?? 0) };
  };
  const budget = charge({ limit: 1_000, windowMs: 60_000 });
  let ids = 0;
  const consume = (store: RedisStore) => store.consume({ id: `c${ids++}`, charges: [budget] });

  it('is called by hash when it was loaded at start', async () => {
    const store = new RedisStore(client, { keyPrefix: 'loaded' });
    await store.prepare();
    await consume(store);
    expect(await callsOf('eval')).toEqual({ calls: 0, failed: 0 });
  });

  it('is sent whole once the server forgot it, and by hash again after that', async () => {
    const store = new RedisStore(client, { keyPrefix: 'forgotten' });
    await store.prepare();
    const before = { eval: await callsOf('eval'), evalsha: await callsOf('evalsha') };
    await client.script('FLUSH');
    for (let i = 0; i < 3; i++) await consume(store);
    expect((await callsOf('eval')).calls - before.eval.calls).toBe(1);
    expect((await callsOf('evalsha')).failed - before.evalsha.failed).toBe(1);
    expect((await store.peek([budget])).budgets[0]!.remaining).toBe(997);
  });

  it('is not sent again for any other error', async () => {
    const script = new LuaScript('consume');
    await script.load(client);
    await client.hset('epoch', 'a', 'b');
    const before = await callsOf('eval');
    await expect(script.run(client, ['log', 'epoch'], ['', 1, '1 1000 1 exact', 'a', 1])).rejects.toThrow('WRONGTYPE');
    expect(await callsOf('eval')).toEqual(before);
  });
});
