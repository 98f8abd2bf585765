import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import type { Charge } from '../../src/core/charge.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import type { RuleOverrideStore } from '../../src/core/rule-override-store.ts';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { connectRedisStore } from '../../src/redis/connect-redis-store.ts';
import type { StoreEvent } from '../../src/core/store-event.ts';
import { charge } from '../contract/store-contract.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';

type Work = (store: RateLimitStore, admin: Redis) => Promise<unknown>;

let calls = 0;
const consume = (store: RateLimitStore, ...charges: readonly Charge[]) =>
  store.consume({ id: `call${calls++}`, charges });
const minute = (limit = 3): Charge => charge({ limit, windowMs: 60_000 });

/** What a store does, each path of the scripts that sends a command of its own included. */
const WORK = {
  'admit a call': (store) => consume(store, minute()),
  'refuse a call': async (store) => {
    const budget = minute(1);
    await consume(store, budget);
    return consume(store, budget);
  },
  'keep the epoch': async (store, admin) => {
    await admin.unlink('rl:epoch');
    return consume(store, minute());
  },
  'know a call that is sent again': async (store) => {
    const request = { id: 'again', charges: [minute()] };
    await store.consume(request);
    return store.consume(request);
  },
  'take back what one budget of a repeated call took': async (store) => {
    const [other, budget] = [minute(), minute()];
    await store.consume({ id: 'twice', charges: [budget] });
    return store.consume({ id: 'twice', charges: [other, budget] });
  },
  'clear away what left the window': async (store) => {
    const budget = charge({ windowMs: 20 });
    await consume(store, budget);
    await wait(40);
    return consume(store, budget);
  },
  'mend entries from the future': async (store, admin) => {
    const budget = minute(1);
    await admin.zadd(`rl:${budget.key}:${budget.windowMs}`, 9e15, 'future');
    return consume(store, budget);
  },
  'load the scripts again when the server lost them': async (store, admin) => {
    await admin.script('FLUSH');
    return consume(store, minute());
  },
  peek: (store) => store.peek([minute()]),
  refund: async (store) => {
    const budget = minute();
    await store.consume({ id: 'refunded', charges: [budget] });
    return store.refund({ id: 'refunded', charges: [budget] });
  },
  reset: (store) => store.reset([minute()]),
} satisfies Record<string, Work>;

/** What is needed, and something that the store cannot do without it. */
const NEEDED: readonly (readonly [command: string, work: keyof typeof WORK | 'start'])[] = [
  ['evalsha', 'start'],
  ['eval', 'load the scripts again when the server lost them'],
  ['time', 'peek'],
  ['get', 'admit a call'],
  ['set', 'keep the epoch'],
  ['zcount', 'peek'],
  ['zrange', 'refuse a call'],
  ['zadd', 'admit a call'],
  ['zcard', 'admit a call'],
  ['pexpire', 'admit a call'],
  ['zscore', 'know a call that is sent again'],
  ['zrem', 'refund'],
  ['zremrangebyrank', 'clear away what left the window'],
  ['zrangebyscore', 'mend entries from the future'],
  ['unlink', 'reset'],
];
/** What makes something better. Redis 7.2 knows `client|setinfo` besides, which 7.0 refuses to grant. */
const USEFUL = ['script|load', 'info', 'client|setname'];
const ALL = [...NEEDED.map(([command]) => command), ...USEFUL];

/** What the entries of an ACL LOG are about. */
const objectsOf = (log: unknown): readonly unknown[] =>
  (log as readonly (readonly unknown[])[])
    .map((entry) => entry[entry.indexOf('object') + 1])
    .filter((name) => name !== 'client|setinfo');

describe('a user of Redis with few rights', () => {
  let server: RedisServer;
  let admin: Redis;
  let stores: RateLimitStore[] = [];
  let events: StoreEvent[] = [];
  beforeAll(async () => {
    server = await startRedisServer();
    admin = new Redis(server.url);
  });
  beforeEach(async () => {
    events = [];
    await admin.script('FLUSH');
    await admin.acl('LOG', 'RESET');
  });
  afterEach(async () => {
    await Promise.all(stores.map(async (store) => store.close?.()));
    stores = [];
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await admin.quit();
    await server.stop();
  });

  const open = async (commands: readonly string[], database = 0): Promise<RateLimitStore> => {
    const rights = commands.map((command) => `+${command}`);
    await admin.acl('SETUSER', 'floodgate', 'reset', 'on', '>secret', '~rl:*', ...rights);
    const store = await createRateLimitStore({
      redis: `${server.url.replace('redis://', 'redis://floodgate:secret@')}/${database}`,
      onStoreError: 'deny',
      decisionTimeout: '5s',
      onStoreEvent: (event) => events.push(event),
    });
    stores.push(store);
    return store;
  };
  const openWithout = (command: string): Promise<RateLimitStore> => open(ALL.filter((other) => other !== command));
  /** The commands that were refused since the test began. */
  const refused = async (): Promise<readonly unknown[]> => objectsOf(await admin.acl('LOG'));

  it.each(Object.entries<Work>(WORK))('may %s', async (_, work) => {
    await work(await open(ALL), admin);
    expect(await refused()).toEqual([]);
    expect(events.filter(({ type }) => type !== 'forgot')).toEqual([]);
  });

  it.each(NEEDED)('needs %s: without it, the store cannot %s', async (command, work) => {
    const attempt = async (): Promise<unknown> => {
      const store = await openWithout(command);
      return work === 'start' ? store : WORK[work](store, admin);
    };
    await expect(attempt()).rejects.toThrow(/can't run this command|no.permission/i);
    expect(new Set(await refused())).toEqual(new Set([command]));
  });

  it('does without script|load: the first call of each script then takes two round trips', async () => {
    const isSourceSent = async (): Promise<boolean> => (await admin.info('commandstats')).includes('cmdstat_eval:');
    await admin.config('RESETSTAT');
    await consume(await open(ALL), minute());
    expect(await isSourceSent()).toBe(false);
    await admin.script('FLUSH');
    const store = await openWithout('script|load');
    for (const work of Object.values<Work>(WORK)) await work(store, admin);
    expect(await isSourceSent()).toBe(true);
    // One of the works takes the epoch away.
    expect(events).toEqual([expect.objectContaining({ type: 'forgot' })]);
    expect(await refused()).toContain('script|load');
  });

  it('does without info, but the client warns that it skips its ready check', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    await consume(await openWithout('info'), minute());
    expect(events).toEqual([]);
    expect(String(warn.mock.calls)).toContain('INFO command fails');
  });

  it('does without client|setname, but its connections have no name', async () => {
    await consume(await openWithout('client|setname'), minute());
    expect(await admin.client('LIST')).not.toContain('name=nestjs-floodgate');
    await consume(await open(ALL), minute());
    expect(await admin.client('LIST')).toContain('name=nestjs-floodgate');
    expect(events).toEqual([]);
  });

  it('needs select for a database other than 0, and the start says so', async () => {
    await expect(open(ALL, 2)).rejects.toThrow(/NOPERM.*select/);
    await consume(await open([...ALL, 'select'], 2), minute());
  });

  it('is refused at the start when its keys are others than those of keyPrefix', async () => {
    await open(ALL);
    const redis = server.url.replace('redis://', 'redis://floodgate:secret@');
    const attempt = createRateLimitStore({ redis, keyPrefix: 'shop' });
    await expect(attempt).rejects.toThrow(/NOPERM.*keys/);
  });

  describe('that keeps overrides of rules', () => {
    const FOR_LIVE_RULES = ['+publish', '+subscribe', '&rl:rules'];
    let following: RuleOverrideStore[] = [];
    afterEach(async () => {
      await Promise.all(following.map((overrides) => overrides.close()));
      following = [];
    });

    /** Two processes: the values that the second one sees when the first has changed a rule, and what failed. */
    const changeWith = async (rights: readonly string[]): Promise<{ seen: unknown; failures: readonly string[] }> => {
      await admin.unlink('rl:rules');
      await admin.acl('SETUSER', 'floodgate', 'reset', 'on', '>secret', '~rl:*', ...ALL.map((c) => `+${c}`), ...rights);
      const failures: string[] = [];
      let seen: unknown;
      for (let i = 0; i < 2; i++) {
        const redis = server.url.replace('redis://', 'redis://floodgate:secret@');
        const { store, ruleOverrides } = await connectRedisStore(redis, { keyPrefix: 'rl', onEvent: () => undefined });
        stores.push(store);
        const overrides = ruleOverrides();
        following.push(overrides);
        await overrides.follow({
          changed: ({ changes }) => (seen = i === 1 ? changes.get('sale')?.[0]?.values : seen),
          failed: (error) => failures.push(String(error)),
        });
      }
      await following[0]!.change('sale', { limit: 3 });
      await eventually(() => Promise.resolve(seen !== undefined), 1_000);
      return { seen, failures };
    };

    it(`does so with ${FOR_LIVE_RULES.join(' ')} besides`, async () => {
      expect(await changeWith(FOR_LIVE_RULES)).toEqual({ seen: { limit: 3 }, failures: [] });
      await eventually(async () => Number((await admin.pubsub('NUMSUB', 'rl:rules'))[1]) === 2);
      expect(await refused()).toEqual([]);
    });

    it('hears of changes within a second without the right to publish', async () => {
      const rights = ['+subscribe', '&rl:rules'];
      expect(await changeWith(rights)).toEqual({ seen: { limit: 3 }, failures: [] });
    });

    it('hears of changes within a second without the right to subscribe, and says once why it looks for them', async () => {
      const { seen, failures } = await changeWith(['+publish', '&rl:rules']);
      expect(seen).toEqual({ limit: 3 });
      await eventually(() => Promise.resolve(failures.length === 2));
      for (const failure of failures) expect(failure).toMatch(/no permission|NOPERM/i);
    });
  });

  describe('on Redis Cluster', () => {
    const FOR_CLUSTER = ['cluster|slots', 'cluster|info'];
    let cluster: RedisCluster;
    const clients: Cluster[] = [];

    beforeAll(async () => (cluster = await startRedisCluster()), 20_000);
    afterEach(() => clients.splice(0).forEach((client) => client.disconnect()));
    afterAll(() => cluster.stop());

    const openCluster = async (commands: readonly string[]): Promise<RateLimitStore> => {
      const rights = commands.map((command) => `+${command}`);
      await cluster.onEach((master) =>
        master.acl('SETUSER', 'floodgate', 'reset', 'on', '>secret', '~rl:*', ...rights),
      );
      const client = new Cluster(
        cluster.ports.map((port) => ({ host: '127.0.0.1', port })),
        { redisOptions: { username: 'floodgate', password: 'secret' }, clusterRetryStrategy: () => 100 },
      );
      client.on('error', () => undefined);
      clients.push(client);
      return createRateLimitStore({ redis: client, onStoreError: 'deny', decisionTimeout: '5s' });
    };
    const onEverySlot = async (store: RateLimitStore): Promise<void> => {
      for (let i = 0; i < 12; i++) await consume(store, { ...minute(), key: `{user${i}}:place` });
    };

    it(`needs ${FOR_CLUSTER.join(' and ')} besides`, async () => {
      await onEverySlot(await openCluster([...ALL, ...FOR_CLUSTER]));
      const logs = await cluster.onEach(async (master) => objectsOf(await master.acl('LOG')));
      expect(logs.flat()).toEqual([]);
    });

    it.each(FOR_CLUSTER)('decides nothing without %s', async (missing) => {
      const rights = [...ALL, ...FOR_CLUSTER.filter((command) => command !== missing)];
      const attempt = async (): Promise<void> => onEverySlot(await openCluster(rights));
      await expect(attempt()).rejects.toThrow(/NOPERM|not ready/);
      const logs = await cluster.onEach(async (master) => objectsOf(await master.acl('LOG')));
      expect(logs.flat()).toContain(missing);
    });
  });
});
