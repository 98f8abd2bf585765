import { describe, expect, it } from '@jest/globals';
import { callIds } from '../../src/core/call-id.ts';
import type { Charge } from '../../src/core/charge.ts';
import { StoreUnavailableError } from '../../src/core/errors.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { describeExactness } from '../contract/exactness.ts';
import { charge, describeStore } from '../contract/store-contract.ts';
import { useRedis } from '../support/redis.ts';
import { Redis } from 'ioredis';

const { client, keyPrefix, keys, url } = useRedis();
const create = (now?: () => number): RedisStore => new RedisStore(client, { keyPrefix, now });

for (const layout of ['exact', 'compact'] as const) describeStore('RedisStore', create, layout);
describeExactness('RedisStore', create, 60);
describeExactness('RedisStore', create, 60, 'compact');

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

  it('does not charge a call that is given back while it waits to be sent', async () => {
    const [store, budget] = [create(), charge()];
    const answer = store.consume({ id: 'early', charges: [budget] });
    await Promise.all([
      expect(answer).rejects.toMatchObject({ kind: 'timeout' }),
      store.refund({ id: 'early', charges: [budget] }),
    ]);
    expect((await store.peek([budget])).budgets[0]!.remaining).toBe(3);
  });

  it('leaves nothing behind of what it tries at the start', async () => {
    await new RedisStore(client, { keyPrefix }).prepare();
    expect(await keys()).toEqual([]);
  });

  it('takes only receipts that are its own', async () => {
    const refund = create().refund({ id: 'a', charges: [charge()], receipt: 'local::1' });
    await expect(refund).rejects.toThrow(/receipt .*local::1/);
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

  describe('costs as much memory as the README says', () => {
    const bytesOf = async ({ key, windowMs }: Charge): Promise<number> =>
      (await client.memory('USAGE', `${keyPrefix}:${key}:${windowMs}`, 'SAMPLES', 0)) as number;
    const budgetOf = (name: string, overrides: Partial<Charge>): Charge =>
      charge({ key: `{ip:203.0.113.7}:GET /memory/${name}`, windowMs: 60_000, ...overrides });

    it('in exact logs', async () => {
      const store = create();
      const bytesWith = async (entries: number): Promise<number> => {
        const budget = budgetOf(`${entries}`, { limit: 1_000, layout: 'exact' });
        const nextId = callIds();
        for (let i = 0; i < entries; i++) await store.consume({ id: nextId(), charges: [budget] });
        return bytesOf(budget);
      };
      expect(await bytesWith(1)).toBeLessThan(180);
      expect((await bytesWith(100)) / 100).toBeLessThan(30);
      const inLargeSet = (await bytesWith(200)) / 200;
      expect(inLargeSet).toBeGreaterThan(60);
      expect(inLargeSet).toBeLessThan(150);
    });

    it.each([1_000, 10_000, 1_000_000, 1_000_000_000])('in a compact log with a limit of %i', async (limit) => {
      let now = 1_700_000_000_000;
      const store = new RedisStore(client, { keyPrefix, now: () => now });
      const budget = budgetOf(`${limit}`, { limit, cost: limit / 1_000 });
      expect(await store.consume({ id: 'first', charges: [budget] })).toMatchObject({ allowed: true });
      expect(await bytesOf(budget)).toBeLessThan(180);
      // Something in every slice, all through the window.
      for (let i = 1; i < 1_000; i++) {
        now += 60;
        await store.consume({ id: `a${i}`, charges: [budget] });
      }
      expect((await store.peek([budget])).budgets).toMatchObject([{ remaining: 0 }]);
      expect(await bytesOf(budget)).toBeLessThan(600);
    });
  });
});
