import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import type { KeptChanges, RuleOverrideStore } from '../../src/core/rule-override-store.ts';
import { connectRedisStore } from '../../src/redis/connect-redis-store.ts';
import type { RedisConnectionOptions } from '../../src/redis/connection-options.ts';
import type { RedisClient } from '../../src/redis/redis-client.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { useRedis } from '../support/redis.ts';
import { startRedisServer } from '../support/redis-server.ts';

/** One process that follows what is kept. */
interface Follower {
  readonly overrides: RuleOverrideStore;
  readonly seen: KeptChanges[];
  readonly failures: unknown[];
  /** Of the last it was told: the latest values of a rule. */
  readonly valuesOf: (name: string) => unknown;
}

type Target = string | RedisConnectionOptions | RedisClient;

describe('overrides that are kept in Redis', () => {
  const redis = useRedis();
  const key = `${redis.keyPrefix}:rules`;
  let closing: (() => Promise<unknown>)[] = [];
  beforeEach(() => void (closing = []));
  afterEach(async () => {
    for (const close of closing.toReversed()) await close();
  });

  const follow = async (target: Target = redis.url, keyPrefix = redis.keyPrefix): Promise<Follower> => {
    const { store, ruleOverrides } = await connectRedisStore(target, { keyPrefix, onEvent: () => undefined });
    const overrides = ruleOverrides();
    closing.push(
      async () => store.close?.(),
      () => overrides.close(),
    );
    const seen: KeptChanges[] = [];
    const failures: unknown[] = [];
    await overrides.follow({ changed: (kept) => seen.push(kept), failed: (error) => failures.push(error) });
    const valuesOf = (name: string): unknown => seen.at(-1)?.changes.get(name)?.[0]?.values;
    return { overrides, seen, failures, valuesOf };
  };
  const sees = (follower: Follower, values: object, name = 'sale', withinMs = 1_000): Promise<void> =>
    eventually(() => Promise.resolve(JSON.stringify(follower.valuesOf(name)) === JSON.stringify(values)), withinMs);

  it('are none at first', async () => {
    const { seen, failures } = await follow();
    expect(seen).toEqual([{ tag: '', version: 0, changes: new Map() }]);
    expect(failures).toEqual([]);
  });

  it('reach whoever changed them at once, others within a second, and who starts later before it begins', async () => {
    const [one, other] = [await follow(), await follow()];
    await one.overrides.change('sale', { limit: 3, message: '售罄 "now"' });
    expect(one.valuesOf('sale')).toEqual({ limit: 3, message: '售罄 "now"' });
    await sees(other, { limit: 3, message: '售罄 "now"' });
    expect((await follow()).valuesOf('sale')).toEqual({ limit: 3, message: '售罄 "now"' });
  });

  it('are told by publish/subscribe: a hundred changes arrive in less time than two looks', async () => {
    const [one, other] = [await follow(), await follow()];
    await eventually(async () => Number((await redis.client.pubsub('NUMSUB', key))[1]) === 2);
    const begin = performance.now();
    for (let limit = 1; limit <= 100; limit++) {
      await one.overrides.change('sale', { limit });
      await sees(other, { limit });
    }
    // Looks alone, 800 ms apart, would take more than a minute.
    expect(performance.now() - begin).toBeLessThan(20_000);
  });

  it('have one version more for each change, keep the last eight of a rule, and say how old they are', async () => {
    const { overrides, seen } = await follow();
    for (let limit = 1; limit <= 9; limit++) await overrides.change('sale', { limit });
    await overrides.change('other', { limit: 1 });
    await overrides.change('sale', undefined);
    const { version, changes } = seen.at(-1)!;
    expect(version).toBe(11);
    const ofSale = changes.get('sale')!;
    expect(ofSale.map((change) => change.version)).toEqual([11, 9, 8, 7, 6, 5, 4, 3]);
    expect(ofSale.map((change) => change.values)).toEqual([
      undefined,
      ...[9, 8, 7, 6, 5, 4, 3].map((limit) => ({ limit })),
    ]);
    for (const { ageMs } of ofSale) expect(ageMs).toBeLessThan(60_000);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const later = (await follow()).seen.at(-1)!.changes.get('sale')![0]!;
    expect(later.ageMs).toBeGreaterThanOrEqual(29);
  });

  it('do not lose each other when many rules are changed at once from several sides', async () => {
    const followers = await Promise.all([follow(), follow(), follow()]);
    const names = Array.from({ length: 60 }, (_, i) => `rule-${i}`);
    await Promise.all(names.map((name, i) => followers[i % 3]!.overrides.change(name, { limit: i + 1 })));
    const { version, changes } = (await follow()).seen.at(-1)!;
    expect(version).toBe(60);
    expect(names.map((name) => changes.get(name)?.[0]?.values)).toEqual(names.map((_, i) => ({ limit: i + 1 })));
    for (const follower of followers) await sees(follower, { limit: 60 }, 'rule-59');
  });

  it('arrive within a second where nothing is told', async () => {
    const [one, other] = [await follow(), await follow()];
    await one.overrides.change('sale', { limit: 3 });
    await sees(other, { limit: 3 });
    // As if the message was lost on its way.
    const document = (await redis.client.get(key))!;
    await redis.client.set(key, document.replace(/^1 1\.\w+/, '1 2.lost').replace('\\"limit\\":3', '\\"limit\\":4'));
    await sees(other, { limit: 4 });
    expect(other.failures).toEqual([]);
  });

  it('arrive while the connection that listens is cut again and again', async () => {
    const [one, other] = [await follow(), await follow()];
    for (let limit = 1; limit <= 5; limit++) {
      await redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await one.overrides.change('sale', { limit });
      await sees(other, { limit });
    }
    expect(other.failures).toEqual([]);
  });

  it.each([
    ['nonsense', 'hello'],
    ['a document of a later version', '2 1.x {}'],
    ['a document whose parts are others', '1 7.x {"sale":[[1,"now","{}"]]}'],
    ['a document whose values are no object', '1 7.x {"sale":[[1,5,"[]"]]}'],
    ['a document cut short', '1 7.x {"sale":'],
  ])('stay what they were when the key holds %s, which is told once', async (_, text) => {
    const { overrides, seen, failures, valuesOf } = await follow();
    await overrides.change('sale', { limit: 3 });
    const before = seen.length;
    await redis.client.set(key, text);
    await eventually(() => Promise.resolve(failures.length > 0));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(failures).toHaveLength(1);
    expect(String(failures[0])).toMatch(/not understood by this version/);
    expect(seen).toHaveLength(before);
    expect(valuesOf('sale')).toEqual({ limit: 3 });
  });

  it('are not written over by a version that does not understand them', async () => {
    const { overrides } = await follow();
    for (const text of ['2 1.x {}', 'hello', '1 3.x nonsense']) {
      await redis.client.set(key, text);
      await expect(overrides.change('sale', { limit: 3 })).rejects.toThrow('holds no overrides as this version');
      expect(await redis.client.get(key)).toBe(text);
    }
  });

  it('are none again when the key is gone', async () => {
    const one = await follow();
    await one.overrides.change('sale', { limit: 3 });
    await redis.client.unlink(key);
    await eventually(() => Promise.resolve(one.seen.at(-1)!.version === 0));
    expect(one.seen.at(-1)!.changes.size).toBe(0);
  });

  it('tell apart two states of one version, one of which was lost', async () => {
    const one = await follow();
    await one.overrides.change('sale', { limit: 3 });
    await redis.client.unlink(key);
    await (await follow()).overrides.change('sale', { limit: 4 });
    expect((await redis.client.get(key))!.startsWith('1 1.')).toBe(true);
    await sees(one, { limit: 4 });
  });

  it('are not kept, and say so, while Redis is away; come in when it is back', async () => {
    const server = await startRedisServer();
    const one = await follow(server.url);
    await one.overrides.change('sale', { limit: 3 });
    await server.stop();
    await expect(one.overrides.change('sale', { limit: 4 })).rejects.toThrow(/Redis/);
    const again = await startRedisServer({ port: server.port });
    closing.push(() => again.stop());
    const admin = new Redis(again.url);
    closing.unshift(() => admin.quit());
    await admin.set(key, '1 9.x {"sale":[[9,1,"{\\"limit\\":9}"]]}');
    await sees(one, { limit: 9 }, 'sale', 5_000);
    expect(one.failures).toEqual([]);
  });

  it('need no more than a client of the application, which stays open, with a prefix of its own', async () => {
    const client = new Redis(redis.url, {
      keyPrefix: 'app-',
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
    });
    const one = await follow(client);
    await eventually(async () => Number((await redis.client.pubsub('NUMSUB', `app-${key}`))[1]) === 1);
    await one.overrides.change('sale', { limit: 3 });
    expect(await redis.client.exists(`app-${key}`)).toBe(1);
    const other = await follow({ ...addressOf(redis.url), keyPrefix: 'app-' });
    await one.overrides.change('sale', { limit: 4 });
    await sees(other, { limit: 4 });
    for (const close of closing.splice(0).toReversed()) await close();
    expect(client.status).toBe('ready');
    await eventually(async () => Number((await redis.client.pubsub('NUMSUB', `app-${key}`))[1]) === 0);
    await client.quit();
  });

  it('hear with no connection more than one, and close it', async () => {
    const listening = async (): Promise<number> =>
      String(await redis.client.call('CLIENT', 'LIST', 'TYPE', 'pubsub'))
        .split('\n')
        .filter(Boolean).length;
    await eventually(async () => (await listening()) === 0);
    await follow();
    await eventually(async () => (await listening()) === 1);
    for (const close of closing.splice(0).toReversed()) await close();
    await eventually(async () => (await listening()) === 0);
    expect(await listening()).toBe(0);
  });

  it('work on a Cluster, from its nodes or with a client', async () => {
    const cluster = await startRedisCluster();
    closing.push(() => cluster.stop());
    const nodes = cluster.ports.map((port) => ({ host: '127.0.0.1', port }));
    const client = new Cluster(nodes, { enableOfflineQueue: false, lazyConnect: true });
    client.on('error', () => undefined);
    closing.push(() => Promise.resolve(client.disconnect()));
    const [one, other] = [await follow({ cluster: nodes }), await follow(client)];
    await one.overrides.change('sale', { limit: 3 });
    await sees(other, { limit: 3 });
    await other.overrides.change('sale', { limit: 4 });
    await sees(one, { limit: 4 });
    expect(one.failures).toEqual([]);
  }, 30_000);
});

const addressOf = (url: string): { readonly host: string; readonly port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
};
