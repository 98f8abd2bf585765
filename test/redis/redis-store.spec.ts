import { describe, expect, it } from '@jest/globals';
import { callIds } from '../../src/core/call-id.ts';
import { StoreUnavailableError } from '../../src/core/errors.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { describeExactness } from '../contract/exactness.ts';
import { charge, describeStore } from '../contract/store-contract.ts';
import { useRedis } from '../support/redis.ts';
import { Redis } from 'ioredis';

const { client, keyPrefix, keys, url } = useRedis();
const create = (now?: () => number): RedisStore => new RedisStore(client, { keyPrefix, now });

describeStore('RedisStore', create);
describeExactness('RedisStore', create, 60);

describe('RedisStore', () => {
  it('makes readable keys of prefix, key and window', async () => {
    const budget = charge({ key: '{ip:203.0.113.7}:POST /voucher-order/seckill/:id', windowMs: 10_000 });
    await create().consume({ id: 'a', charges: [budget] });
    expect(await keys()).toEqual([`${keyPrefix}:{ip:203.0.113.7}:POST /voucher-order/seckill/:id:10000`]);
  });

  it('composes with the key prefix of the client', async () => {
    const prefixed = new Redis(url, { keyPrefix: 'app:' });
    await prefixed.ping();
    const store = new RedisStore(prefixed, { keyPrefix });
    const budget = charge({ key: 'k', limit: 1 });
    await store.consume({ id: 'a', charges: [budget] });
    expect(await keys()).toEqual([`app:${keyPrefix}:k:1000`]);
    await store.reset([budget]);
    expect(await keys()).toEqual([]);
    await prefixed.quit();
  });

  it('decides on the clock of the server when no time is given', async () => {
    const budget = charge({ limit: 1, windowMs: 60_000 });
    const decision = await create().consume({ id: 'a', charges: [budget] });
    const [seconds] = await client.time();
    expect(decision).toMatchObject({ allowed: true });
    expect(Math.abs(Number(decision.allowed && decision.receipt) / 1e6 - Number(seconds))).toBeLessThan(2);
  });

  it('sends nothing to a client that is not ready', async () => {
    const idle = new Redis(url, { lazyConnect: true });
    const store = new RedisStore(idle, { keyPrefix });
    const failure: unknown = await store.consume({ id: 'a', charges: [charge()] }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ kind: 'connection' });
    expect(idle.status).toBe('wait');
  });

  it('tells a key of the wrong type apart, and leaves the other budgets of the call alone', async () => {
    const [good, bad] = [charge(), charge()];
    await client.set(`${keyPrefix}:${bad.key}:${bad.windowMs}`, 'text', 'EX', 60);
    const call = create().consume({ id: 'a', charges: [good, bad] });
    await expect(call).rejects.toMatchObject({ name: 'StoreUnavailableError', kind: 'wrong-type' });
    expect((await create().peek([good])).budgets[0]!.remaining).toBe(3);
  });

  it('costs as much memory as the README says', async () => {
    const store = create();
    const bytesWith = async (entries: number): Promise<number> => {
      const budget = charge({ key: `{ip:203.0.113.7}:GET /memory/${entries}`, limit: 1_000, windowMs: 60_000 });
      const nextId = callIds();
      for (let i = 0; i < entries; i++) await store.consume({ id: nextId(), charges: [budget] });
      return (await client.memory('USAGE', `${keyPrefix}:${budget.key}:60000`, 'SAMPLES', 0)) as number;
    };
    expect(await bytesWith(1)).toBeLessThan(180);
    expect((await bytesWith(100)) / 100).toBeLessThan(30);
    const aboveCompact = (await bytesWith(200)) / 200;
    expect(aboveCompact).toBeGreaterThan(60);
    expect(aboveCompact).toBeLessThan(150);
  });
});
