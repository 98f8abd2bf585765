import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { FIXED_OPTIONS, redisTargetFault, type RedisConnectionOptions } from '../../src/redis/connection-options.ts';
import { closeRedis, openRedis } from '../../src/redis/open-redis.ts';

type Options = Readonly<Record<string, unknown>>;

describe('a connection of our own', () => {
  const clients: { disconnect(): void }[] = [];
  afterEach(() => clients.splice(0).forEach((client) => client.disconnect()));
  const optionsOf = async (target: string | RedisConnectionOptions): Promise<Options> => {
    const client = await openRedis(target);
    clients.push(client);
    return (client as unknown as { options: Options }).options;
  };

  it.each<[string, string | RedisConnectionOptions]>([
    ['a URL', 'redis://127.0.0.1:1'],
    ['options', { host: '127.0.0.1', port: 1 }],
    ['options that say otherwise', { port: 1, enableOfflineQueue: true, lazyConnect: false } as RedisConnectionOptions],
  ])('has the settings that answering in time depends on, from %s', async (_, target) => {
    expect(await optionsOf(target)).toMatchObject(FIXED_OPTIONS);
  });

  it('has settings by default that the application may choose', async () => {
    expect(await optionsOf({ port: 1, connectTimeout: 7 })).toMatchObject({ connectTimeout: 7, socketTimeout: 1_000 });
  });

  it('has them for each node of a Cluster', async () => {
    const ofNode = { password: 'secret', enableOfflineQueue: true, connectionName: 'shop' };
    const target = { cluster: ['redis://127.0.0.1:1'], keyPrefix: 'shop:', natMap: {}, ...ofNode };
    const { redisOptions, clusterRetryStrategy, ...ofCluster } = await optionsOf(target);
    expect(redisOptions).toMatchObject({ ...FIXED_OPTIONS, password: 'secret', connectionName: 'shop' });
    expect(ofCluster).toMatchObject({ lazyConnect: true, enableOfflineQueue: false, keyPrefix: 'shop:', natMap: {} });
    // What it keeps for later is charged when nobody asks any more.
    expect(ofCluster).toMatchObject({ retryDelayOnClusterDown: 0, retryDelayOnFailover: 0 });
    expect(clusterRetryStrategy).toBe(FIXED_OPTIONS.retryStrategy);
  });

  it.each([
    [1, 100],
    [2, 200],
    [3, 400],
    [4, 500],
    [2_000, 500],
  ])('that was lost for the %d. time is tried again after %d ms, or up to a quarter less', (attempt, longest) => {
    for (let i = 0; i < 20; i++) {
      const pauseMs = FIXED_OPTIONS.retryStrategy(attempt);
      expect(pauseMs).toBeLessThanOrEqual(longest);
      expect(pauseMs).toBeGreaterThanOrEqual(longest * 0.75);
    }
  });

  it('is made anew when the server takes no writes any more, and for no other reply', () => {
    const { reconnectOnError } = FIXED_OPTIONS;
    expect(reconnectOnError(new Error("READONLY You can't write against a read only replica."))).toBe(true);
    expect(reconnectOnError(new Error('NOSCRIPT No matching script.'))).toBe(false);
  });
});

describe('the end of a connection of our own', () => {
  afterEach(() => {
    jest.useRealTimers();
  });
  type OwnClient = Awaited<ReturnType<typeof openRedis>>;
  const clientThat = (quit: () => Promise<unknown>, status = 'ready') => {
    const told: string[] = [];
    const client = {
      status,
      quit: () => (told.push('quit'), quit().finally(() => told.push('quitted'))),
      disconnect: () => void told.push('disconnected'),
    };
    return { told, close: () => closeRedis(client as unknown as OwnClient) };
  };

  it('comes after the commands under way, and leaves no timer behind', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const { told, close } = clientThat(() => new Promise((resolve) => setImmediate(resolve)));
    await close();
    expect(told).toEqual(['quit', 'quitted', 'disconnected']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('comes after half a second where the server does not answer', async () => {
    jest.useFakeTimers();
    const { told, close } = clientThat(() => new Promise(() => undefined));
    const closed = close();
    await jest.advanceTimersByTimeAsync(499);
    expect(told).toEqual(['quit']);
    await jest.advanceTimersByTimeAsync(1);
    await closed;
    expect(told).toEqual(['quit', 'disconnected']);
  });

  it('comes though the farewell fails', async () => {
    const { told, close } = clientThat(() => Promise.reject(new Error('Connection is closed.')));
    await close();
    expect(told.at(-1)).toBe('disconnected');
  });
});

describe('what a connection is to be made from', () => {
  it.each<[string, unknown]>([
    ['a URL', 'redis://localhost'],
    ['a URL with TLS', 'rediss://user:secret@localhost:6380/2'],
    ['no options', {}],
    ['a port in words', { port: '6379' }],
    ['nodes of a Cluster', { cluster: [{ host: 'a' }] }],
    ['options without a prototype', Object.create(null)],
  ])('may be %s', (_, target) => {
    expect(redisTargetFault(target)).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ['a Cluster without nodes', { cluster: [] }, 'a list of nodes'],
    ['a Cluster that is no list', { cluster: 'redis://a' }, 'a list of nodes'],
    ['port 0', { port: 0 }, 'port from 1'],
    ['port 65536', { port: 65_536 }, 'port from 1'],
    ['a port with a fraction', { port: 1.5 }, 'port from 1'],
    ['a path that is none', { path: 5 }, 'a text as path'],
    ['null', null, 'options of ioredis'],
    ['a number', 6379, 'not number'],
  ])('may not be %s', (_, target, reason) => {
    expect(redisTargetFault(target)).toContain(reason);
  });
});
