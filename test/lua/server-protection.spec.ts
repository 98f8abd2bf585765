import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import { scriptsOn } from './scripts.ts';

/** On servers of their own, since these states would disturb other tests. */
describe('a server that protects itself', () => {
  let server: RedisServer;
  let client: Redis;
  let run: ReturnType<typeof scriptsOn>;

  beforeEach(async () => {
    server = await startRedisServer();
    client = new Redis(server.url);
    run = scriptsOn(client, 'epoch');
  });
  afterEach(async () => {
    client.disconnect();
    await server.stop();
  });

  it('refuses an admission when it is out of memory, also where there is something to trim', async () => {
    const now = 1_700_000_000_000_000;
    await run.consume(now, 'old', ['a', 500, 100, 100]);
    await run.consume(now, 'old', ['b', 500, 100, 100]);
    const later = now + 100_000;
    await client.config('SET', 'maxmemory', '1');
    await expect(run.consume(later, 'new', ['a', 500, 100, 1], ['b', 500, 100, 1])).rejects.toThrow('OOM');
    await client.config('SET', 'maxmemory', '0');
    expect(await client.zscore('a', 'new')).toBeNull();
    expect(await client.zcard('a')).toBe(100);
  });

  it('decides nothing as a read-only replica, neither admissions nor refusals', async () => {
    await run.consume('', 'a', ['full', 1, 60_000, 1]);
    await run.consume('', 'a', ['open', 5, 60_000, 1]);
    // A replica of nobody in reach keeps its data and is read-only.
    await client.config('SET', 'replica-serve-stale-data', 'yes');
    await client.replicaof('127.0.0.1', 1);
    await expect(run.consume('', 'b', ['full', 1, 60_000, 1])).rejects.toThrow('READONLY');
    await expect(run.consume('', 'b', ['open', 5, 60_000, 1])).rejects.toThrow('READONLY');
    await expect(run.consume('', 'a', ['full', 1, 60_000, 1])).rejects.toThrow('READONLY');
  });
});
