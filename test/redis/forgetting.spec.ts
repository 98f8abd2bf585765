import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { SupervisedStore } from '../../src/core/store-health.ts';
import { createRateLimitStore, type RateLimitStoreOptions } from '../../src/create-rate-limit-store.ts';
import { charge } from '../contract/store-contract.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';

describe('a Redis that forgets', () => {
  let server: RedisServer;
  let admin: Redis;
  let store: SupervisedStore;
  let events: string[];
  beforeEach(async () => {
    server = await startRedisServer();
    admin = new Redis(server.url);
    admin.on('error', () => undefined);
  });
  afterEach(async () => {
    await store.close?.();
    admin.disconnect();
    await server.stop();
  });
  const open = async (options: RateLimitStoreOptions = {}): Promise<void> => {
    events = [];
    store = await createRateLimitStore({
      redis: server.url,
      decisionTimeout: '5s',
      ...options,
      onStoreEvent: (event) => events.push(event.type === 'forgot' ? `forgot ${event.extent}` : event.type),
    });
  };
  const forgotten = (): readonly string[] => events.filter((event) => event.startsWith('forgot'));
  let calls = 0;
  const consume = (budget = charge()) => store.consume({ id: `c${calls++}`, charges: [budget] });

  it('is told of once after FLUSHALL', async () => {
    await open();
    await consume();
    await consume();
    expect(events).toEqual([]);
    await admin.flushall();
    for (let i = 0; i < 3; i++) await consume();
    expect(events).toEqual(['forgot all']);
  });

  it('is told of once after a restart without persistence', async () => {
    await open();
    await consume();
    await server.restart();
    await eventually(async () => (await consume()).budgets.length > 0 && store.health().state === 'available');
    expect(forgotten()).toEqual(['forgot all']);
  });

  it('is told of when it comes back with its data, since the last charges may be lost', async () => {
    await open();
    await consume();
    const epoch = (await admin.get('rl:epoch'))!;
    await server.restart();
    await new Promise((resolve) => admin.once('ready', resolve));
    await admin.set('rl:epoch', epoch, 'PX', 60_000);
    await eventually(async () => (await consume()).budgets.length > 0 && forgotten().length > 0);
    expect(forgotten()).toEqual(['forgot latest']);
  });

  it('is told of when it evicts keys, by what it says of itself', async () => {
    const client = new Redis(server.url);
    await open({ redis: client });
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await admin.config('SET', 'maxmemory', '3mb');
    for (let i = 0; i < 100; i++) await admin.set(`filler${i}`, 'x'.repeat(100_000));
    client.emit('ready');
    await eventually(async () => forgotten().length > 0);
    client.disconnect();
    expect(events).toEqual(expect.arrayContaining(['warning', 'forgot some']));
  });

  it('begins a second budget where that is accepted, but for what a process counts itself, and none where it is fenced', async () => {
    const budget = charge({ limit: 3, windowMs: 60_000 });
    const admittedOf = async (times: number): Promise<number> => {
      const decisions = [];
      for (let i = 0; i < times; i++) decisions.push(await consume(budget));
      return decisions.filter(({ allowed }) => allowed).length;
    };
    await open({ onStoreError: 'allow' });
    expect(await admittedOf(3)).toBe(3);
    await admin.flushall();
    expect(await admittedOf(5)).toBe(3);
    await store.close?.();

    await open({ keyPrefix: 'local' });
    expect(await admittedOf(3)).toBe(3);
    await admin.flushall();
    expect(await admittedOf(5)).toBe(0);
    await store.close?.();

    await open({ onMemoryLoss: 'fence', keyPrefix: 'fenced' });
    await admin.set('fenced:epoch', '1', 'PX', 60_000);
    expect(await admittedOf(3)).toBe(3);
    await admin.flushall();
    expect(await admittedOf(5)).toBe(0);
  });
});

describe('a Cluster that forgets', () => {
  it('is told of once, however many slots notice it', async () => {
    const cluster = await startRedisCluster();
    const client = new Redis.Cluster([...cluster.ports].map((port) => ({ host: '127.0.0.1', port })));
    const events: string[] = [];
    const store = await createRateLimitStore({
      redis: client,
      decisionTimeout: '5s',
      onStoreEvent: (event) => events.push(event.type),
    });
    const identities = Array.from({ length: 50 }, (_, i) => charge({ key: `{user:${i}}:x`, limit: 100 }));
    const consumeAll = () =>
      Promise.all(identities.map((budget, i) => store.consume({ id: `c${i}`, charges: [budget] })));
    await consumeAll();
    await cluster.onEach((master) => master.flushall());
    await consumeAll();
    await store.close?.();
    client.disconnect();
    await cluster.stop();

    expect(events.filter((event) => event === 'forgot')).toHaveLength(1);
  }, 30_000);
});
