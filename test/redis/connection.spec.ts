import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import type { StoreEvent } from '../../src/core/store-event.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { charge } from '../contract/store-contract.ts';
import { freePort, startRedisServer, type RedisServer } from '../support/redis-server.ts';
import { useRedis } from '../support/redis.ts';

const { url, keyPrefix, client } = useRedis();

const kinds = (events: readonly StoreEvent[]): readonly string[] =>
  events.map((event) => (event.type === 'unavailable' ? event.error.kind : event.type));

describe('a store on Redis', () => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  const server = async (options?: Parameters<typeof startRedisServer>[0]): Promise<RedisServer> => {
    const started = await startRedisServer(options);
    cleanUps.push(() => started.stop());
    return started;
  };
  const open = async (options: Parameters<typeof createRateLimitStore>[0]) => {
    const events: StoreEvent[] = [];
    const store = await createRateLimitStore({ keyPrefix, ...options, onStoreEvent: (event) => events.push(event) });
    cleanUps.push(async () => store.close?.());
    return { store, events };
  };
  let calls = 0;
  const consume = (store: RateLimitStore, budget = charge()) => store.consume({ id: `c${calls++}`, charges: [budget] });

  it.each([
    ['a URL', () => url],
    ['options of ioredis', () => ({ host: '127.0.0.1', port: Number(new URL(url).port) })],
    ['a client of the application', () => client],
  ])('is made from %s', async (_, redis) => {
    const { store, events } = await open({ redis: redis() });
    expect((await consume(store)).budgets).toHaveLength(1);
    expect(kinds(events).filter((kind) => kind !== 'warning')).toEqual([]);
  });

  it('makes a lazy client of the application connect, and never closes it', async () => {
    const lazy = new Redis(url, { lazyConnect: true });
    cleanUps.push(() => lazy.quit());
    const { store } = await open({ redis: lazy });
    expect((await consume(store)).budgets).toHaveLength(1);
    await store.close?.();
    expect(await lazy.ping()).toBe('PONG');
  });

  it('ends the connections that it opened, and leaves none behind', async () => {
    const { port, url: own } = await server();
    const admin = new Redis(port);
    cleanUps.push(async () => admin.disconnect());
    const { store } = await open({ redis: own });
    expect(await admin.client('LIST')).toContain('name=nestjs-floodgate');
    await store.close?.();
    expect(await admin.client('LIST')).not.toContain('name=nestjs-floodgate');
  });

  it('starts without Redis after 2 s, decides by policy, and through Redis as soon as it is there', async () => {
    const port = await freePort();
    const begun = performance.now();
    const { store, events } = await open({ redis: `redis://127.0.0.1:${port}`, onStoreError: 'deny' });
    expect(performance.now() - begun).toBeLessThan(4_000);
    await expect(consume(store)).rejects.toMatchObject({ kind: 'connection' });
    await server({ port });
    await until(async () => (await consume(store)).budgets.length === 1 && kinds(events).at(-1) === 'available');
    expect(kinds(events)).toEqual(['connection', 'available']);
  }, 20_000);

  it('does not start with a wrong password, and says so at once', async () => {
    const { url: own } = await server({ args: ['--requirepass', 'right'] });
    const begun = performance.now();
    const wrong = own.replace('redis://', 'redis://:wrong@');
    await expect(open({ redis: wrong })).rejects.toMatchObject({ name: 'RateLimitConfigurationError' });
    await expect(open({ redis: own })).rejects.toThrow('NOAUTH');
    expect(performance.now() - begun).toBeLessThan(3_000);
    const { store } = await open({ redis: own.replace('redis://', 'redis://:right@') });
    expect((await consume(store)).allowed).toBe(true);
  });

  it('decides by numbers that the client gives as strings', async () => {
    const texts = new Redis(url, { stringNumbers: true });
    cleanUps.push(() => texts.quit());
    const { store } = await open({ redis: texts });
    const budget = charge({ limit: 1 });
    expect((await consume(store, budget)).budgets[0]!.remaining).toBe(0);
    expect((await consume(store, budget)).allowed).toBe(false);
  });

  it.each(['wait', 'connecting', 'connect', 'reconnecting', 'close', 'end'])(
    'sends nothing through a client whose status is %s, since it might be applied when nobody asks any more',
    async (status) => {
      const sent: string[] = [];
      const command = (name: string) => async () => sent.push(name);
      const idle = { status, evalsha: command('evalsha'), eval: command('eval'), unlink: command('unlink') };
      const store = new RedisStore(idle as unknown as Redis, { keyPrefix });
      const request = { id: 'a', charges: [charge()] };
      for (const ask of [
        () => store.consume(request),
        () => store.peek(request.charges),
        () => store.refund(request),
        () => store.reset(request.charges),
      ]) {
        await expect(ask()).rejects.toMatchObject({ kind: 'connection', message: expect.stringContaining(status) });
      }
      expect(sent).toEqual([]);
    },
  );

  it('takes no reply for a decision that is none', async () => {
    for (const reply of ['OK', [], [1, 5], [2, 5, 1, 1, 0], ['x', 5, 1, 1, 0], null]) {
      const odd = { status: 'ready', evalsha: async () => reply, eval: async () => reply } as unknown as Redis;
      const store = new RedisStore(odd, { keyPrefix });
      await expect(consume(store)).rejects.toMatchObject({ name: 'StoreUnavailableError', kind: 'unknown' });
    }
  });

  it.each([
    ['a list', [] as unknown, 'a list'],
    ['a client of another kind', new (class NodeRedis {})(), 'must be a URL'],
    ['a closed client', () => closed(), 'not closed'],
    ['options with a URL in them', { url: 'redis://u:secret@127.0.0.1' }, 'no url'],
    ['a port that is none', { port: 'abc' }, 'port'],
    ['a host that is none', { host: 5 }, 'host'],
    ['another URL', 'http://u:secret@127.0.0.1:6379', 'redis://'],
    ['a URL with a port that is none', 'redis://u:secret@127.0.0.1:99999', 'redis://'],
    ['a URL without its scheme', 'default:secret@redis:6379', 'redis://'],
    ['a URL with half of its scheme', 'redis:default:secret@h', 'redis://'],
    ['a URL with a password in its query and a port that is none', 'redis://h:99999?password=secret', 'redis://'],
    ['a URL that makes commands wait', 'redis://u:secret@h?enableOfflineQueue=1', 'enableOfflineQueue'],
    ['a URL that makes commands be sent twice', 'redis://h?autoResendUnfulfilledCommands=1', 'autoResend'],
  ])('does not start with %s, and tells no secrets', async (_, redis, reason) => {
    const value = (typeof redis === 'function' ? await (redis as () => Promise<unknown>)() : redis) as string;
    const failure: unknown = await createRateLimitStore({ redis: value }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: 'RateLimitConfigurationError',
      message: expect.stringContaining(reason) as unknown,
    });
    expect(String(failure)).not.toContain('secret');
  });
  const closed = async (): Promise<Redis> => {
    const ended = new Redis(url, { lazyConnect: true });
    await ended.connect();
    const gone = once(ended, 'end');
    await ended.quit();
    await gone;
    return ended;
  };

  it('does not start with a user who may not call scripts', async () => {
    const { url: own } = await server();
    const admin = new Redis(own);
    cleanUps.push(() => admin.quit());
    await admin.acl('SETUSER', 'nobody', 'on', '>secret', '~*', '+@all', '-evalsha', '-eval');
    const redis = own.replace('redis://', 'redis://nobody:secret@');
    await expect(open({ redis })).rejects.toThrow('NOPERM');
  });

  it.each(['stopped', 'stalled'] as const)(
    'answers in time while Redis is %s, and recovers by itself',
    async (how) => {
      const own = await server();
      const { store, events } = await open({ redis: own.url, decisionTimeout: '300ms', onStoreError: 'deny' });
      await consume(store);
      if (how === 'stopped') await own.stop();
      else own.pause();
      for (let i = 0; i < 3; i++) {
        const begun = performance.now();
        await expect(consume(store)).rejects.toMatchObject({ name: 'StoreUnavailableError' });
        expect(performance.now() - begun).toBeLessThan(500);
      }
      if (how === 'stopped') await server({ port: own.port });
      else own.resume();
      await until(async () => (await consume(store)).budgets.length === 1 && kinds(events).at(-1) === 'available');
      expect(kinds(events).filter((kind) => kind !== 'forgot')).toHaveLength(2);
    },
    20_000,
  );

  it('sends nothing that waits: what was asked while Redis was away is not charged when it is back', async () => {
    const own = await server();
    const { store } = await open({ redis: own.url, onStoreError: 'deny' });
    const budget = charge({ windowMs: 60_000 });
    await own.stop();
    await until(async () =>
      consume(store, budget).then(
        () => false,
        ({ kind }: { kind: string }) => kind === 'connection',
      ),
    );
    for (let i = 0; i < 3; i++) await expect(consume(store, budget)).rejects.toMatchObject({ kind: 'connection' });
    await server({ port: own.port });
    await until(async () => (await store.peek([budget])).budgets[0]!.remaining === 3);
  }, 20_000);

  it('gives back the charge of a call that was denied at its deadline but reached Redis', async () => {
    const own = await server();
    const { store } = await open({ redis: own.url, decisionTimeout: '100ms', onStoreError: 'deny' });
    const budget = charge({ windowMs: 60_000 });
    await consume(store, budget);
    own.pause();
    await expect(consume(store, budget)).rejects.toMatchObject({ kind: 'timeout' });
    own.resume();
    await until(async () => (await store.peek([budget])).budgets[0]!.remaining === 2);
  });
});

/** Waits for what others do in their own time; failures on the way do not count. */
async function until(isSo: () => Promise<boolean>, patienceMs = 10_000): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    if (await isSo().catch(() => false)) return;
    if (performance.now() > end) throw new Error(`it was not so within ${patienceMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
