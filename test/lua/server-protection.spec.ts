import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
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

  it('refuses as ever when it is out of memory, also where the clock stepped back', async () => {
    const now = 1_700_000_000_000_000;
    const charges = [
      ['exact', 1, 100, 1, 'exact'],
      ['compact', 1, 100, 1, 'compact'],
    ] as const;
    for (const charge of charges) await run.consume(now, 'old', charge);
    await client.config('SET', 'maxmemory', '1');
    for (const charge of charges) expect((await run.consume(now - 50_000, 'new', charge))[0]).toBe(0);
    await client.config('SET', 'maxmemory', '0');
  });

  it('takes back what a call took that fails half way, and leaves the others of its batch alone', async () => {
    const rights = ['+@all', '-pexpire'];
    await client.acl('SETUSER', 'poor', 'on', '>secret', '~*', ...rights);
    const poor = new Redis(server.url.replace('redis://', 'redis://poor:secret@'), { enableReadyCheck: false });
    const { consumeAll } = scriptsOn(poor, 'epoch');
    const { answers } = await consumeAll('epoch', '', [
      ['a', ['log', 5, 60_000, 2], ['large', 500, 60_000, 2, 'compact']],
      ['b', ['large', 500, 60_000, 2, 'compact']],
    ]);
    poor.disconnect();
    expect(answers).toEqual([expect.stringContaining("can't run this command"), [1, 498, 60_000, 0]]);
    expect(await client.exists('log')).toBe(0);
    expect((await run.peek('', ['large', 500, 60_000, 1, 'compact']))[2]).toBe(498);
  });

  /** The scripts as a user without these rights calls them. */
  const without = async (...missing: readonly string[]) => {
    await client.acl('SETUSER', 'poor', 'on', '>secret', '~*', '+@all', ...missing.map((command) => `-${command}`));
    const poor = new Redis(server.url.replace('redis://', 'redis://poor:secret@'), { enableReadyCheck: false });
    return { ...scriptsOn(poor, 'epoch'), end: () => poor.disconnect() };
  };
  const noRight = expect.stringContaining("can't run this command");

  it('keeps what else a compact log has when it takes back a call that fails half way', async () => {
    const now = 1_700_000_000_000_000;
    await run.consume(now, 'before', ['large', 500, 1_000, 2, 'compact']);
    const { consumeAll, end } = await without('pexpire');
    const { answers } = await consumeAll('epoch', now + 50_000, [
      ['a', ['log', 5, 1_000, 2], ['large', 500, 1_000, 7, 'compact']],
    ]);
    end();
    expect(answers).toEqual([noRight]);
    expect(await run.peek(now + 50_000, ['large', 500, 1_000, 1, 'compact'])).toEqual([1, now + 50_000, 498, 950, 0]);
  });

  it('takes back a call that fails half way from a compact log whose clock stepped back', async () => {
    const now = 1_700_000_000_000_000;
    await run.consume(now, 'before', ['large', 500, 1_000, 2, 'compact']);
    const { consumeAll, end } = await without('pexpire');
    const { answers } = await consumeAll('epoch', now - 50_000, [
      ['a', ['log', 5, 1_000, 2], ['large', 500, 1_000, 7, 'compact']],
    ]);
    end();
    expect(answers).toEqual([noRight]);
    expect((await run.peek(now - 50_000, ['large', 500, 1_000, 1, 'compact']))[2]).toBe(498);
  });

  it('takes back a unit of one log that cannot get an expiry', async () => {
    await run.consume('', 'first', ['first', 5, 60_000, 1]);
    const { consume, end } = await without('pexpire');
    await expect(consume('', 'a', ['log', 5, 60_000, 1])).rejects.toThrow("can't run this command");
    end();
    expect(await client.exists('log')).toBe(0);
  });

  it('takes back a unit of one log that cannot be trimmed', async () => {
    const now = 1_700_000_000_000_000;
    await run.consume(now, 'old', ['log', 5, 100, 1]);
    const { consume, end } = await without('zremrangebyrank');
    await expect(consume(now + 100_000, 'a', ['log', 5, 100, 1])).rejects.toThrow("can't run this command");
    end();
    expect(await client.zrange('log', 0, '-1')).toEqual(['old']);
  });

  it('leaves a log that cannot be counted as it is', async () => {
    await run.consume('', 'first', ['log', 5, 60_000, 1]);
    const { consumeAll, end } = await without('zcount');
    expect((await consumeAll('epoch', '', [['a', ['log', 5, 60_000, 1]]])).answers).toEqual([noRight]);
    end();
    expect(await client.zrange('log', 0, '-1')).toEqual(['first']);
  });

  it('takes back of a call that fails nothing that another call of its batch took', async () => {
    await client.set('text', 'of somebody else');
    const large = ['large', 500, 60_000, 2, 'compact'] as const;
    const { answers } = await run.consumeAll('epoch', '', [
      ['a', large],
      ['b', large, ['text', 5, 60_000, 1]],
    ]);
    expect(answers).toEqual([[1, 498, 60_000, 0], expect.stringContaining('WRONGTYPE')]);
    expect((await run.peek('', large))[2]).toBe(498);
  });

  it('decides the others of a batch also where a call that fails cannot be taken back', async () => {
    const { consumeAll, end } = await without('pexpire', 'zrem');
    const { answers } = await consumeAll('epoch', '', [
      ['a', ['log', 5, 60_000, 2]],
      ['b', ['large', 500, 60_000, 2, 'compact']],
    ]);
    end();
    expect(answers).toEqual([noRight, [1, 498, 60_000, 0]]);
  });

  it('takes no log for a compact one that it may not read', async () => {
    const { consumeAll, end } = await without('zcount');
    const { answers } = await consumeAll('epoch', '', [['a', ['log', 5, 60_000, 2]]]);
    end();
    expect(answers).toEqual([noRight]);
    expect(await client.exists('log')).toBe(0);
  });

  it('tells that entries of the future cannot be re-stamped, unless for want of memory', async () => {
    const now = 1_700_000_000_000_000;
    await run.consume(now, 'old', ['log', 1, 100, 1]);
    const { consumeAll, end } = await without('zadd');
    const { answers } = await consumeAll('epoch', now - 50_000, [['a', ['log', 1, 100, 1]]]);
    end();
    expect(answers).toEqual([noRight]);
  });

  it('admits what it has written though the epoch cannot be', async () => {
    await client.acl('SETUSER', 'poor', 'on', '>secret', '~*', '+@all', '-set');
    const poor = new Redis(server.url.replace('redis://', 'redis://poor:secret@'));
    const { consumeAll } = scriptsOn(poor, 'epoch');
    const { answers } = await consumeAll('epoch', '', [['a', ['log', 5, 60_000, 1]]]);
    poor.disconnect();
    expect(answers).toEqual([[1, 4, 60_000, 0]]);
  });

  it('as a read-only replica fails the whole call: ioredis looks for the primary on no other answer', async () => {
    const reconnectOnError = jest.fn<(error: Error) => boolean>(() => false);
    const own = new Redis(server.url, { reconnectOnError });
    await client.replicaof('127.0.0.1', 1);
    for (const layout of ['exact', 'compact'] as const) {
      const call = scriptsOn(own, 'epoch').consumeAll('epoch', '', [['b', ['open', 5, 60_000, 1, layout]]]);
      await expect(call).rejects.toThrow('READONLY');
    }
    const told = reconnectOnError.mock.calls.filter(([error]) => error.message.startsWith('READONLY'));
    expect(told).toHaveLength(2);
    own.disconnect();
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
