import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { Redis } from 'ioredis';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { clientOptionsWarning } from '../../src/redis/client-options.ts';
import type { RedisClient } from '../../src/redis/redis-client.ts';
import { serverWarnings } from '../../src/redis/server-info.ts';
import { ServerWatch } from '../../src/redis/server-watch.ts';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import { useRedis } from '../support/redis.ts';

const codes = (warnings: readonly { code: string }[]): readonly string[] => warnings.map(({ code }) => code);
const info = (fields: Readonly<Record<string, string>>): string =>
  `# Server\r\n${Object.entries({ redis_version: '7.0.15', maxmemory: '0', maxmemory_policy: 'noeviction', ...fields })
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('')}`;

describe('the settings of a server', () => {
  it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['nothing, of Redis 7', {}, []],
    ['nothing, of Redis 6.2', { redis_version: '6.2.0' }, []],
    ['nothing, of Redis 10', { redis_version: '10.0.1' }, []],
    ['its age, of Redis 6.0', { redis_version: '6.0.16' }, ['FLOODGATE_OLD_REDIS']],
    ['its age, of Redis 5.9', { redis_version: '5.9.0' }, ['FLOODGATE_OLD_REDIS']],
    ['nothing, of memory that is bounded', { maxmemory: '1000' }, []],
    ['nothing, of a policy without a bound', { maxmemory_policy: 'allkeys-lru' }, []],
    ['eviction', { maxmemory: '1000', maxmemory_policy: 'volatile-ttl' }, ['FLOODGATE_EVICTING_REDIS']],
    [
      'both',
      { redis_version: '4.0.0', maxmemory: '1000', maxmemory_policy: 'allkeys-lru' },
      ['FLOODGATE_OLD_REDIS', 'FLOODGATE_EVICTING_REDIS'],
    ],
  ])('are warned of for %s', (_, fields, expected) => {
    expect(codes(serverWarnings(info(fields)))).toEqual(expected);
  });

  it('are told with their values and what would be right', () => {
    const [old] = serverWarnings(info({ redis_version: '6.0.16' }));
    const [evicting] = serverWarnings(info({ maxmemory: '1000', maxmemory_policy: 'allkeys-lru' }));
    expect(old!.message).toMatch(/6\.0\.16.*6\.2/);
    expect(evicting!.message).toMatch(/allkeys-lru.*noeviction/);
  });

  it('are not known of something that is no reply of INFO', () => {
    expect(serverWarnings('')).toEqual([]);
    expect(serverWarnings('[object Object]')).toEqual([]);
  });
});

describe('a server that evicts', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer({ args: ['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru'] });
  });
  afterAll(() => server.stop());

  it('is told of when the store is made', async () => {
    const events: string[] = [];
    const store = await createRateLimitStore({
      redis: server.url,
      onStoreEvent: (event) => events.push(event.type === 'warning' ? event.code : event.type),
    });
    await eventually(async () => events.length > 0);
    await store.close?.();

    expect(events).toEqual(['FLOODGATE_EVICTING_REDIS']);
  });

  it('is told of once, however often it is connected to', async () => {
    const client = new Redis(server.url);
    let looks = 0;
    const events: string[] = [];
    const end = new ServerWatch((event) => events.push(event.type === 'warning' ? event.code : event.type)).follow(
      client,
    );
    const info = client.info.bind(client);
    client.info = (...args: []) => info(...args).finally(() => void looks++);
    const look = async (times: number): Promise<void> => {
      if (times > 1) client.emit('ready');
      await eventually(async () => looks >= times);
    };
    for (const times of [1, 2, 3]) await look(times);
    end();
    client.disconnect();

    expect(events).toEqual(['FLOODGATE_EVICTING_REDIS']);
    expect(client.listenerCount('ready')).toBe(0);
  });

  it('is not told of to a user who may not ask', async () => {
    const admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'curious', 'on', '>pw', '~*', '+@all', '-info');
    const client = new Redis(server.port, { username: 'curious', password: 'pw' });
    const events: string[] = [];
    const end = new ServerWatch((event) => events.push(event.type === 'warning' ? event.code : event.type)).follow(
      client,
    );
    await client.ping();
    await client.ping();
    end();
    client.disconnect();
    admin.disconnect();

    expect(events).toEqual([]);
  });
});

/** A client of servers that answer INFO with these fields. */
class InfoClient extends EventEmitter {
  status = 'ready';
  looks = 0;
  servers: readonly Readonly<Record<string, string>>[] = [{ run_id: 'first' }];

  info = async (): Promise<string> => {
    this.looks++;
    return info(this.servers[0]!);
  };
}

/** A client of a Cluster of such servers. */
class InfoCluster extends InfoClient {
  nodes(): readonly { info: () => Promise<string> }[] {
    return this.servers.map((fields) => ({ info: async () => info(fields) }));
  }
}

describe('a watch', () => {
  const clock = new ManualClock();
  let end = (): void => undefined;
  let events: string[];
  let watch: ServerWatch;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate', 'nextTick'] });
    jest.spyOn(performance, 'now').mockImplementation(clock.now);
    events = [];
    watch = new ServerWatch((event) => events.push(Object.values(event).slice(0, 2).join(' ')));
  });
  afterEach(() => {
    end();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const follow = async (client: InfoClient): Promise<void> => {
    end = watch.follow(client as unknown as RedisClient);
    await read();
  };
  const read = () => new Promise((resolve) => setImmediate(resolve));
  const pass = (ms: number): void => {
    clock.advance(ms);
    jest.advanceTimersByTime(ms);
  };
  const connect = async (client: InfoClient, ...servers: InfoClient['servers']): Promise<void> => {
    client.servers = servers;
    client.emit('ready');
    await read();
  };
  /** @param aheadMs of the server's clock, before this process's */
  const decided = (aheadMs = 0, epochKey = 'epoch'): number => {
    const decidedAt = (clock.now() + aheadMs) * 1_000;
    return watch.decided({ epochKey, began: 1_000, decidedAt, sentAt: clock.now() });
  };

  it('looks at the servers at first, every half minute, and whenever they are connected to', async () => {
    const client = new InfoClient();
    await follow(client);
    expect(client.looks).toBe(1);
    pass(29_999);
    expect(client.looks).toBe(1);
    pass(1);
    expect(client.looks).toBe(2);
    client.emit('ready');
    expect(client.looks).toBe(3);
  });

  it('looks at nothing through a client that is not ready, since the question would wait', async () => {
    const client = new InfoClient();
    client.status = 'connecting';
    await follow(client);
    pass(60_000);
    expect(client.looks).toBe(0);
  });

  it('ends when it is told to', async () => {
    const client = new InfoClient();
    await follow(client);
    end();
    client.emit('ready');
    pass(60_000);
    expect([client.looks, jest.getTimerCount()]).toEqual([1, 0]);
  });

  it('is sure of the servers that it finds first, and doubts another that takes over', async () => {
    const client = new InfoCluster();
    client.servers = [{ run_id: 'first' }, { run_id: 'second' }];
    await follow(client);
    expect(decided()).toBeGreaterThan(1_000_000);
    await connect(client, { run_id: 'second' }, { run_id: 'first' });
    expect(decided()).toBeGreaterThan(1_000_000);
    await connect(client, { run_id: 'first' }, { run_id: 'third' });
    pass(5);
    expect(decided()).toBe(5);
    expect(events).toEqual(['forgot latest']);
  });

  it('trusts a server no more that comes back after another one', async () => {
    const client = new InfoClient();
    client.servers = [{ run_id: 'a' }];
    await follow(client);
    for (const run_id of ['b', 'a']) {
      await connect(client, { run_id });
      pass(5);
      expect(decided()).toBe(5);
      pass(60_000);
    }
  });

  it('doubts a server that took over once, however often it looks at it', async () => {
    const client = new InfoClient();
    await follow(client);
    await connect(client, { run_id: 'second' });
    pass(60_000);
    await connect(client, { run_id: 'second' });
    expect(decided()).toBe(60_000);
  });

  it('trusts the others when a server is added', async () => {
    const client = new InfoCluster();
    client.servers = [{ run_id: 'first' }];
    await follow(client);
    await connect(client, { run_id: 'first' }, { run_id: 'added', evicted_keys: '5' });
    expect(decided()).toBeGreaterThan(1_000_000);
    expect(events).toEqual([]);
  });

  it('takes a server that does not answer for none that left', async () => {
    const client = new InfoCluster();
    client.servers = [{ run_id: 'first' }, { run_id: 'second' }];
    await follow(client);
    await connect(client, { run_id: 'first' }, {});
    expect(decided()).toBeGreaterThan(1_000_000);
    await connect(client, { run_id: 'first' }, { run_id: 'third' });
    expect(decided()).toBe(0);
    expect(events).toEqual(['forgot latest']);
  });

  it('is sure of nothing from the moment a node is lost until it knows who is there', async () => {
    const client = new InfoCluster();
    client.servers = [{ run_id: 'first' }, { run_id: 'second' }];
    await follow(client);
    client.emit('-node');
    pass(3);
    expect(decided()).toBe(3);
    await read();
    expect(decided()).toBeGreaterThan(1_000_000);
    client.servers = [{ run_id: 'first' }, { run_id: 'third' }];
    client.emit('-node');
    await read();
    pass(4);
    expect(decided()).toBe(4);
    expect(events).toEqual(['forgot latest']);
  });

  it('tells of what was evicted since it looked first at a server, once an hour', async () => {
    const client = new InfoClient();
    client.servers = [{ run_id: 'first', evicted_keys: '7' }];
    await follow(client);
    expect(events).toEqual([]);
    await connect(client, { run_id: 'first', evicted_keys: '9' });
    expect(events).toEqual(['forgot some']);
    expect(decided()).toBe(0);
    await connect(client, { run_id: 'second', evicted_keys: '1' });
    pass(3_599_999);
    await connect(client, { run_id: 'second', evicted_keys: '2' });
    expect(events).toEqual(['forgot some']);
    pass(1);
    await connect(client, { run_id: 'second', evicted_keys: '3' });
    expect(events.filter((event) => event === 'forgot some')).toHaveLength(2);
  });

  it('tells of steps of a clock, one server apart from another, and not again for a minute', () => {
    for (const epochKey of ['a', 'b']) decided(epochKey === 'a' ? 0 : 60_000, epochKey);
    decided(0, 'a');
    expect(events).toEqual([]);
    decided(5_000, 'a');
    decided(65_000, 'b');
    expect(events).toEqual(['clock-stepped 5000']);
    pass(59_999);
    decided(0, 'a');
    expect(events).toEqual(['clock-stepped 5000']);
    pass(1);
    decided(7_000, 'a');
    expect(events).toEqual(['clock-stepped 5000', 'clock-stepped 7000']);
  });
});

describe('the options of a client', () => {
  const { url, client } = useRedis();
  const careful = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, lazyConnect: true };

  it('are warned of where commands wait or are sent twice, with what to write instead', () => {
    const warning = clientOptionsWarning(client)!;
    expect(warning.code).toBe('FLOODGATE_CLIENT_OPTIONS');
    expect(warning.message).toContain('enableOfflineQueue: false, autoResendUnfulfilledCommands: false');
  });

  it('are warned of by what is wrong in them, and by nothing else', () => {
    const half = new Redis(url, { ...careful, autoResendUnfulfilledCommands: true });
    expect(clientOptionsWarning(half)!.message).toMatch(/with autoResendUnfulfilledCommands: false$/);
    expect(clientOptionsWarning(new Redis(url, careful))).toBeUndefined();
  });

  it('are not warned of for a Cluster that does not queue', () => {
    const nodes = [{ host: '127.0.0.1', port: 1 }];
    const queueing = new Redis.Cluster(nodes, { lazyConnect: true });
    const careful = { enableOfflineQueue: false, retryDelayOnClusterDown: 0, retryDelayOnFailover: 0 };
    const direct = new Redis.Cluster(nodes, { lazyConnect: true, ...careful });
    const advice = /with enableOfflineQueue: false, retryDelayOnClusterDown: 0, retryDelayOnFailover: 0$/;
    expect(clientOptionsWarning(queueing)!.message).toMatch(advice);
    expect(clientOptionsWarning(direct)).toBeUndefined();
  });

  it('are not warned of where the client does not tell them', () => {
    expect(clientOptionsWarning({ status: 'ready' } as unknown as Redis)).toBeUndefined();
  });
});
