import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { once } from 'node:events';
import { eventually } from '../support/eventually.ts';
import { supportClient } from '../support/redis-clients.ts';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.ts';
import { startSentinelSet, type SentinelSet } from '../support/redis-sentinel.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const SLOW_TEST_MS = 60_000;
const PATIENCE_MS = 25_000;

/** A client that sends a command once, and gives it up with the connection, or soon. */
const impatient = (url: string): Redis => {
  const client = new Redis(url, {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 20,
    commandTimeout: 300,
  });
  return client.on('error', () => undefined);
};

const timed = async (run: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await run();
  return performance.now() - start;
};

const isUp = (client: Redis): Promise<void> => eventually(async () => client.status === 'ready');

/** Waits until this server is a replica that has what its master has. */
async function replicates(server: RedisServer): Promise<void> {
  const client = supportClient(server.url);
  await eventually(async () => (await client.info('replication')).includes('master_link_status:up'), PATIENCE_MS);
  client.disconnect();
}

describe('a Redis server', () => {
  let server: RedisServer;
  let client: Redis;

  beforeEach(async () => {
    server = await startRedisServer();
    client = impatient(server.url);
    await client.set('key', 'value');
  });
  afterEach(async () => {
    client.disconnect();
    await server.stop();
  });

  it('comes back after its death, empty and on its port', async () => {
    const { pid } = server;
    await server.kill();
    await expect(client.get('key')).rejects.toThrow('max retries');
    await server.restart();
    await isUp(client);
    expect(await client.get('key')).toBeNull();
    expect(server.pid).not.toBe(pid);
  });

  it('stalls while it is paused, and can be killed and restarted then', async () => {
    server.pause();
    await expect(client.get('key')).rejects.toThrow('Command timed out');
    server.resume();
    expect(await client.get('key')).toBe('value');
    server.pause();
    await server.kill();
    await server.restart();
    server.pause();
    await server.restart();
    await server.stop();
    await server.stop();
    expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
  });
});

describe('a TCP proxy', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let direct: Redis;
  let client: Redis;

  beforeAll(async () => {
    server = await startRedisServer();
    direct = new Redis(server.url);
  });
  beforeEach(async () => {
    await direct.flushall();
    proxy = await startTcpProxy(server.port);
    client = impatient(proxy.url);
    await isUp(client);
  });
  afterEach(async () => {
    client.disconnect();
    await proxy.stop();
  });
  afterAll(async () => {
    direct.disconnect();
    await server.stop();
  });

  it('forwards, and counts the open connections', async () => {
    expect(await client.echo('x'.repeat(1_000_000))).toHaveLength(1_000_000);
    expect(proxy.connections).toBe(1);
    client.disconnect();
    await eventually(async () => proxy.connections === 0);
    await eventually(async () => ((await direct.client('LIST')) as string).trim().split('\n').length === 1);
  });

  it('delays both directions, and keeps their order', async () => {
    proxy.delay(50);
    expect(await timed(() => client.ping())).toBeGreaterThanOrEqual(99);
    const first = timed(() => client.rpush('list', 'first'));
    await new Promise((resolve) => setTimeout(resolve, 25));
    proxy.delay(0);
    await client.rpush('list', 'second');
    // The request was delayed, the reply no more.
    expect(await first).toBeGreaterThanOrEqual(49);
    expect(await client.lrange('list', 0, -1)).toEqual(['first', 'second']);
    expect(await timed(() => client.ping())).toBeLessThan(40);
  });

  it('cuts every reply, after the command was applied', async () => {
    proxy.cutReplies();
    await expect(client.incr('n')).rejects.toThrow('max retries');
    await eventually(async () => (await direct.get('n')) === '1');
    const other = impatient(proxy.url);
    await expect(other.incr('n')).rejects.toThrow('max retries');
    other.disconnect();
    await proxy.heal();
    await isUp(client);
    expect(await client.incr('n')).toBe(2);
  });

  it('drops one reply, with its connection', async () => {
    proxy.dropNextReply();
    await expect(client.incr('n')).rejects.toThrow('max retries');
    await isUp(client);
    expect(await client.incr('n')).toBe(2);
  });

  it('is silent, until it heals', async () => {
    proxy.blackhole();
    await expect(client.incr('n')).rejects.toThrow('Command timed out');
    const other = impatient(proxy.url);
    await eventually(async () => proxy.connections === 2);
    await expect(other.incr('n')).rejects.toThrow('Command timed out');
    expect(await direct.get('n')).toBeNull();
    expect(client.status).toBe('ready');
    const closed = once(client, 'close');
    await proxy.heal();
    await closed;
    await isUp(client);
    await isUp(other);
    expect(await client.incr('n')).toBe(1);
    other.disconnect();
  });

  it('refuses, until it heals', async () => {
    await proxy.refuse();
    expect(proxy.connections).toBe(0);
    await eventually(async () => client.status === 'reconnecting');
    const attempt = new Redis(proxy.url, { lazyConnect: true, retryStrategy: () => null });
    attempt.on('error', () => undefined);
    await expect(attempt.connect()).rejects.toThrow('Connection is closed');
    await proxy.heal();
    await isUp(client);
    expect(await client.ping()).toBe('PONG');
    await proxy.stop();
    await proxy.stop();
  });
});

describe('a set of sentinels', () => {
  let set: SentinelSet;
  let client: Redis;

  beforeEach(async () => {
    set = await startSentinelSet();
    const { sentinels, name } = set;
    client = new Redis({ sentinels: [...sentinels], name, retryStrategy: () => 50 });
    client.on('error', () => undefined);
    await client.set('key', 'value');
  }, SLOW_TEST_MS);
  afterEach(async () => {
    client.disconnect();
    await set.stop();
  });

  it(
    'promotes the replica of a master that died',
    async () => {
      const [replica] = set.replicas;
      expect(await set.currentMaster()).toBe(set.master);
      await replicates(replica!);
      await set.master.kill();
      await eventually(async () => (await set.currentMaster()) === replica, PATIENCE_MS);
      expect(await client.get('key')).toBe('value');
      expect(await client.config('GET', 'port')).toEqual(['port', String(replica!.port)]);
    },
    SLOW_TEST_MS,
  );

  it(
    'promotes the replica when it is told to, for good',
    async () => {
      const [replica] = set.replicas;
      await set.failover();
      expect(await set.currentMaster()).toBe(replica);
      // By what the sentinels wrote into its configuration.
      await replica!.restart();
      const promoted = new Redis(replica!.url);
      expect(await promoted.role()).toContain('master');
      promoted.disconnect();
    },
    SLOW_TEST_MS,
  );
});

describe('a Redis Cluster', () => {
  let cluster: RedisCluster;
  let client: Cluster;

  beforeAll(async () => {
    cluster = await startRedisCluster(3, { replicasPerMaster: 1 });
    client = new Cluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })));
    client.on('error', () => undefined);
  }, SLOW_TEST_MS);
  afterAll(async () => {
    client.disconnect();
    await cluster.stop();
  });

  it('moves a slot with its keys and their expiry', async () => {
    const keys = Array.from({ length: 250 }, (_, i) => `{moved}:${i}`);
    const slot = await cluster.slotOf('{moved}');
    await Promise.all(keys.map((key) => client.set(key, key, 'EX', 100)));
    const from = (await cluster.ownerOf(slot))!;
    const to = (from + 1) % 3;
    await cluster.moveSlot(slot, from, to);
    expect(await cluster.ownerOf(slot)).toBe(to);
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys);
    expect(await client.ttl(keys[0]!)).toBeGreaterThan(0);
    await cluster.moveSlot(slot, to, from);
    expect(await cluster.ownerOf(slot)).toBe(from);
  });

  it('stops half way, with redirections for the keys that have moved', async () => {
    const slot = await cluster.slotOf('{half}');
    const from = (await cluster.ownerOf(slot))!;
    const to = (from + 2) % 3;
    await client.mset('{half}:a', 'a', '{half}:b', 'b');
    const move = await cluster.beginMove(slot, from, to);
    await move.migrateKeys(1);
    const source = new Redis(cluster.nodes[from]!.url);
    const replies = await Promise.all(['a', 'b'].map((key) => source.get(`{half}:${key}`).catch(String)));
    expect(replies.filter((reply) => reply?.includes(`ASK ${slot} 127.0.0.1:${cluster.ports[to]}`))).toHaveLength(1);
    await expect(source.mget('{half}:a', '{half}:b')).rejects.toThrow('TRYAGAIN');
    expect(await Promise.all(['a', 'b'].map((key) => client.get(`{half}:${key}`)))).toEqual(['a', 'b']);
    expect(await cluster.ownerOf(slot)).toBe(from);
    await move.finish();
    expect(await cluster.ownerOf(slot)).toBe(to);
    await expect(source.get('{half}:a')).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${cluster.ports[to]}`);
    source.disconnect();
  });

  it(
    'puts a replica in the place of a master that died',
    async () => {
      const slot = await cluster.slotOf('lost');
      const owner = (await cluster.ownerOf(slot))!;
      await client.set('lost', 'value');
      await cluster.nodes[owner]!.kill();
      expect(await cluster.ownerOf(slot)).toBeUndefined();
      await eventually(async () => (await cluster.ownerOf(slot)) === owner + 3, PATIENCE_MS);
      await eventually(async () => (await client.get('lost').catch(() => '')) === 'value', PATIENCE_MS);
      await cluster.nodes[owner]!.restart();
      await replicates(cluster.nodes[owner]!);
      expect(await cluster.ownerOf(slot)).toBe(owner + 3);
    },
    SLOW_TEST_MS,
  );
});
