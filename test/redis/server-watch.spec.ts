import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { clientOptionsWarning } from '../../src/redis/client-options.ts';
import { serverWarnings } from '../../src/redis/server-info.ts';
import { ServerWatch } from '../../src/redis/server-watch.ts';
import { eventually } from '../support/eventually.ts';
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
    const direct = new Redis.Cluster(nodes, { lazyConnect: true, enableOfflineQueue: false });
    expect(clientOptionsWarning(queueing)!.message).toMatch(/with enableOfflineQueue: false$/);
    expect(clientOptionsWarning(direct)).toBeUndefined();
  });

  it('are not warned of where the client does not tell them', () => {
    expect(clientOptionsWarning({ status: 'ready' } as unknown as Redis)).toBeUndefined();
  });
});
