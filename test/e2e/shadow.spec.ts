import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import {
  MemoryStore,
  RateLimit,
  RateLimiter,
  tiers,
  type DecisionEvent,
  type RateLimitModuleOptions,
  type RateLimitOptions,
} from 'nestjs-floodgate';
import { as, from, requestOf } from '../support/authentication.ts';
import { eventually } from '../support/eventually.ts';
import { FailingStore } from '../support/failing-store.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

/** Knows the user if there is one, and turns away who asks for it. */
@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { 'x-user': id, 'x-reject': rejected } = request.headers;
    if (rejected !== undefined) throw new UnauthorizedException();
    if (id !== undefined) request.user = { id };
    return true;
  }
}

function limitedBy(...rules: readonly RateLimitOptions[]) {
  @Controller()
  class ShadowedController {
    @RateLimit(...rules.map((rule) => ({ window: '1m', ...rule })))
    @UseGuards(UserGuard)
    @Get('page')
    get() {}
  }
  return [ShadowedController];
}

const fails = (): never => {
  throw new Error('the test broke it');
};
const STORES = ['in process', 'in Redis'] as const;

describe.each(PLATFORMS)('a rule in shadow on %s', (platform) => {
  const redis = useRedis();
  const startApp = useApps();

  const start = async (rules: readonly RateLimitOptions[], options: RateLimitModuleOptions = {}) => {
    const logger = new LogLines();
    const settings = { decisionIdentities: 'plain', ...options } as const;
    const trustProxy = 'loopback';
    const app = await startApp(platform, { controllers: limitedBy(...rules), logger, options: settings, trustProxy });
    const limiter = app.app.get(RateLimiter);
    const events: DecisionEvent[] = [];
    limiter.decisions$.subscribe((event) => events.push(event));
    const told = (): readonly string[] => events.map(({ rule, outcome }) => `${rule} ${outcome}`);
    const toldOf = (rule: string): readonly string[] =>
      events.filter((event) => event.rule === rule).map(({ outcome }) => outcome);
    return { ...app, logger, limiter, events, told, toldOf };
  };
  const inStore = (store: (typeof STORES)[number]): RateLimitModuleOptions =>
    store === 'in Redis' ? { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' } : {};

  it.each(STORES)(
    'is judged on a log of its own and told of, never refuses, and no client notices, %s',
    async (store) => {
      const rules: readonly RateLimitOptions[] = [
        { name: 'tight', limit: 1, type: 'IP', mode: 'shadow', message: 'no more' },
        { limit: 2, mode: 'shadow' },
      ];
      const { get, toldOf, logger } = await start(rules, inStore(store));
      for (let i = 0; i < 3; i++) {
        const { status, headers } = await get('/page');
        expect(status).toBe(200);
        expect([...headers.keys()].filter((name) => /ratelimit|retry-after|cache-control/.test(name))).toEqual([]);
        await eventually(async () => toldOf('tight').length === i + 1 && toldOf('2-per-1m').length === i + 1);
      }

      expect(toldOf('tight')).toEqual(['shadow-allowed', 'shadow-refused', 'shadow-refused']);
      expect(toldOf('2-per-1m')).toEqual(['shadow-allowed', 'shadow-allowed', 'shadow-refused']);
      expect(logger.matching(/would have refused/)).toEqual([
        expect.stringContaining('warn: ShadowedController.get (tight): in shadow, it would have refused a request'),
        expect.stringContaining('(2-per-1m)'),
      ]);
    },
  );

  it('neither blocks nor counts against a block that is enforced', async () => {
    const block = { after: 1, within: '1m', for: '1h' } as const;
    const { statuses, toldOf } = await start([
      { name: 'tried', limit: 1, type: 'IP', mode: 'shadow', block },
      { name: 'real', limit: 3, type: 'IP', block },
    ]);

    expect(await statuses(4, '/page')).toEqual([200, 200, 200, 429]);
    expect(toldOf('tried')).toEqual(['shadow-allowed', 'shadow-refused', 'shadow-refused']);
  });

  it('counts by outcome as if it were enforced', async () => {
    const { statuses, toldOf, store } = await start([
      { name: 'failures', limit: 1, type: 'IP', mode: 'shadow', count: 'failed' },
    ]);
    for (let calls = 1; calls <= 3; calls++) {
      expect(await statuses(1, '/page')).toEqual([200]);
      await eventually(async () => store.refunded.length === calls);
    }

    expect(toldOf('failures')).toEqual(Array(3).fill('shadow-allowed'));
    expect(await statuses(1, '/page', { headers: { 'x-reject': 'yes' } })).toEqual([401]);
    await statuses(1, '/page');
    expect(toldOf('failures').slice(3)).toEqual(['shadow-allowed', 'shadow-refused']);
  });

  it('has keys that tell so', async () => {
    const { get, told } = await start([{ limit: 2, mode: 'shadow' }], inStore('in Redis'));
    await get('/page');
    await eventually(async () => told().length === 1);

    expect(await redis.keys()).toEqual([`${redis.keyPrefix}:{method:GET /page}#~shadow:60000`]);
  });

  it('stands beside an enforced one that is the same but for its limit', async () => {
    const { statuses, told, store } = await start([{ limit: 2 }, { limit: 1, mode: 'shadow' }]);

    expect(await statuses(3, '/page')).toEqual([200, 200, 429]);
    // What is enforced refused the third, so it was not judged in shadow.
    expect(told()).toEqual([
      '2-per-1m allowed',
      '1-per-1m shadow-allowed',
      '2-per-1m allowed',
      '1-per-1m shadow-refused',
      '2-per-1m refused',
    ]);
    expect(store.chargedKeys).toContain('{method:GET /page}#~shadow');
  });

  it('does not change what headers tell of the enforced ones', async () => {
    const { get } = await start([{ limit: 5 }, { limit: 1, mode: 'shadow' }]);
    await get('/page');
    const { headers } = await get('/page');

    expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual(['5', '3']);
  });

  it('gives back what it took where an enforced rule refuses at a later moment', async () => {
    const { statuses, toldOf, store } = await start([
      { name: 'early', limit: 5, type: 'IP', mode: 'shadow' },
      { name: 'late', limit: 1 },
    ]);
    expect(await statuses(4, '/page')).toEqual([200, 429, 429, 429]);
    await eventually(async () => store.refunded.length === 3);

    expect(toldOf('early')).toEqual(Array(4).fill('shadow-allowed'));
    expect(store.refunded.map(({ charges: [charge] }) => charge!.key)).toEqual(
      Array(3).fill('{ip:127.0.0.1}:GET /page#early~shadow'),
    );
    expect((await store.peek(store.consumed[0]!.charges)).budgets[0]).toMatchObject({ remaining: 4 });
  });

  it('keeps what it took where another guard turns the request away, as enforced ones do', async () => {
    const { get, toldOf, store } = await start([{ name: 'early', limit: 1, type: 'IP', mode: 'shadow' }]);
    expect((await get('/page', { headers: { 'x-reject': 'yes' } })).status).toBe(401);
    await get('/page');

    expect(toldOf('early')).toEqual(['shadow-allowed', 'shadow-refused']);
    expect(store.refunded).toEqual([]);
  });

  it('is judged when it has an identity: a key that is only there after the guards', async () => {
    const key = (context: ExecutionContext) => requestOf(context).user!.id as string;
    const { get, events, store } = await start([{ name: 'tenant', limit: 1, key, mode: 'shadow' }]);
    for (const user of ['alice', 'alice', 'bob']) await get('/page', as(user));

    expect(events.map(({ outcome, identity }) => `${identity} ${outcome}`)).toEqual([
      'key:alice shadow-allowed',
      'key:alice shadow-refused',
      'key:bob shadow-allowed',
    ]);
    expect(store.consumed).toHaveLength(3);
  });

  it('keeps no request waiting, neither by its functions nor by the store', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    class SlowStore extends MemoryStore {
      override async consume(request: Parameters<MemoryStore['consume']>[0]) {
        await gate;
        return super.consume(request);
      }
    }
    const limit = async () => gate.then(() => 1);
    const rules: readonly RateLimitOptions[] = [
      { name: 'slow', limit, type: 'IP', mode: 'shadow' },
      { name: 'fast', limit: 1, type: 'USER', mode: 'shadow' },
    ];
    const { statuses, told } = await start(rules, { store: new SlowStore(), decisionTimeout: '30s' });

    expect(await statuses(3, '/page')).toEqual([200, 200, 200]);
    expect(told()).toEqual([]);
    open();
    await eventually(async () => told().length === 6);
    expect(told().filter((line) => line.endsWith('refused'))).toHaveLength(4);
  });

  it('holds up no other one, however long its functions take', async () => {
    const limit = () => new Promise<number>(() => undefined);
    const { statuses, told } = await start([
      { name: 'stuck', limit, type: 'IP', mode: 'shadow' },
      { name: 'fine', limit: 1, type: 'IP', mode: 'shadow' },
    ]);
    await statuses(2, '/page');

    expect(told()).toEqual(['fine shadow-allowed', 'fine shadow-refused']);
  });

  it('follows a change of the rule while running, and judges both windows until the longer has passed', async () => {
    const { statuses, toldOf, limiter } = await start([{ name: 'live', limit: 3, type: 'IP', mode: 'shadow' }]);
    await statuses(2, '/page');
    await limiter.rules.override('live', { window: '2m', limit: 1 });
    expect(await statuses(2, '/page')).toEqual([200, 200]);

    expect(toldOf('live')).toEqual(['shadow-allowed', 'shadow-allowed', 'shadow-allowed', 'shadow-refused']);
  });

  it.each<[string, RateLimitOptions, RateLimitModuleOptions]>([
    ['its limit fails', { limit: fails }, {}],
    ['its window rejects', { window: async () => fails() }, {}],
    ['its cost is nonsense', { cost: () => -1 }, {}],
    ['its skip fails', { skip: fails }, {}],
    ['its key fails', { key: fails }, {}],
    ['its message fails', { message: fails, limit: 1 }, {}],
    ['its tier is unknown', { limit: tiers({ free: 1 }, () => 'gold') }, {}],
    ['there is no user', { type: 'USER' }, { identity: { anonymous: 'deny' } }],
    ['there is no key', { key: () => undefined }, { identity: { anonymous: 'deny' } }],
    ['there is no address', { type: 'IP' }, { identity: { ip: () => undefined } }],
    ['the address fails', { type: 'IP' }, { identity: { ip: fails } }],
  ])('harms no request when %s, though its policy denies', async (_, rule, options) => {
    const { statuses, logger } = await start([{ onStoreError: 'deny', ...rule, mode: 'shadow' }], options);

    expect(await statuses(3, '/page')).toEqual([200, 200, 200]);
    expect(logger.matching(/refused as unavailable/)).toEqual([]);
    expect(logger.errors.length).toBeLessThan(2);
  });

  it.each([
    ['by a timeout', 'timeout'],
    ['for this key', 'wrong-type'],
    ['by a bug', new Error('a bug')],
  ] as const)('harms no request when the store fails %s, though its policy denies', async (_, failure) => {
    const store = new FailingStore();
    store.failure = failure;
    const { statuses } = await start([{ onStoreError: 'deny', limit: 1, mode: 'shadow' }], { store });

    expect(await statuses(3, '/page')).toEqual([200, 200, 200]);
  });

  it('is asked once for what enforced rules have asked for', async () => {
    let asked = 0;
    const limit = () => (asked++, 5);
    const skip = () => (asked++, false);
    const { get, told } = await start([
      { name: 'a', limit, skip },
      { name: 'b', limit, skip, mode: 'shadow' },
      { name: 'c', limit, skip, mode: 'shadow' },
    ]);
    await get('/page');

    expect(asked).toBe(2);
    expect(told()).toEqual(['a allowed', 'b shadow-allowed', 'c shadow-allowed']);
  });

  it('of a bucket takes once from it, beside another one of the same', async () => {
    const rule = { bucket: 'mail', mode: 'shadow' } as const;
    const { statuses, toldOf, store } = await start([
      { ...rule, limit: 3, name: 'a' },
      { ...rule, limit: 2, name: 'b' },
      { bucket: 'mail', limit: 9, name: 'c' },
    ]);
    await statuses(3, '/page');

    expect(toldOf('b')).toEqual(['shadow-allowed', 'shadow-allowed', 'shadow-refused']);
    expect(toldOf('c')).toEqual(['allowed', 'allowed', 'allowed']);
    expect((await store.peek(store.consumed[0]!.charges)).budgets[0]).toMatchObject({ remaining: 6 });
  });

  it('may be all rules there are, by the defaults, but for those that say otherwise', async () => {
    const rules: readonly RateLimitOptions[] = [
      { name: 'a', limit: 1 },
      { name: 'b', limit: 2, mode: 'enforce' },
    ];
    const { statuses } = await start(rules, { defaults: { mode: 'shadow' } });

    expect(await statuses(3, '/page')).toEqual([200, 200, 429]);
  });

  it('answers the service at once and without budgets, and gives back', async () => {
    const { limiter, toldOf, store } = await start([{ name: 'declared', limit: 1, type: 'IP', mode: 'shadow' }]);
    const first = await limiter.consume('declared', '203.0.113.7');
    const second = await limiter.consume('declared', '203.0.113.7');

    expect([first, second]).toEqual([
      { allowed: true, id: expect.any(String), budgets: [] },
      { allowed: true, id: expect.any(String), budgets: [] },
    ]);
    await eventually(async () => toldOf('declared').length === 2);
    expect(toldOf('declared')).toEqual(['shadow-allowed', 'shadow-refused']);
    for (const decision of [first, second]) if (decision.allowed) await limiter.refund(decision);
    expect(store.refunded).toHaveLength(1);
    expect(await limiter.peek('declared', '203.0.113.7')).toEqual({ allowed: true, budgets: [] });
    await limiter.consume({ name: 'own', limit: 1, mode: 'shadow' }, 'alice');
    await limiter.reset({ name: 'own', limit: 1, mode: 'shadow' }, 'alice');
    expect(store.chargedKeys.at(-1)).toBe('{key:alice}:name own#~shadow');
  });

  it('is told of once a minute, with how often it would have refused since', async () => {
    const { statuses, logger } = await start([{ limit: 1, mode: 'shadow' }]);
    await statuses(5, '/page');

    expect(logger.matching(/would have refused/)).toHaveLength(1);
  });
});

describe.each(PLATFORMS)('a rule that is enforced for a share of identities, on %s', (platform) => {
  const startApp = useApps();
  const start = async (rule: RateLimitOptions, options: RateLimitModuleOptions = {}) => {
    const app = await startApp(platform, { controllers: limitedBy(rule), options, trustProxy: 'loopback' });
    const events: DecisionEvent[] = [];
    app.app.get(RateLimiter).decisions$.subscribe((event) => events.push(event));
    return { ...app, events };
  };
  const addresses = Array.from({ length: 40 }, (_, i) => `203.0.113.${i}`);

  it('refuses those, and tells what it would have refused the others', async () => {
    const { get, events } = await start(
      { limit: 1, type: 'IP', enforcePercent: '50' },
      { decisionIdentities: 'plain' },
    );
    const statuses = new Map<string, number>();
    for (const address of addresses) {
      await get('/page', from(address));
      statuses.set(address, (await get('/page', from(address))).status);
    }
    const enforced = addresses.filter((address) => statuses.get(address) === 429);

    expect(enforced.length).toBeGreaterThan(8);
    expect(enforced.length).toBeLessThan(32);
    for (const address of addresses) {
      const outcomes = events.filter(({ identity }) => identity === `ip:${address}`).map(({ outcome }) => outcome);
      const isEnforced = enforced.includes(address);
      expect(outcomes).toEqual(isEnforced ? ['allowed', 'refused'] : ['shadow-allowed', 'shadow-refused']);
    }
  });

  it.each([
    ['none', 0, [200, 200, 200]],
    ['all', 100, [200, 429, 429]],
  ])('is enforced for %s at %d', async (_, enforcePercent, statuses) => {
    const app = await start({ limit: 1, type: 'IP', enforcePercent });
    expect(await app.statuses(3, '/page')).toEqual(statuses);
  });

  it('turns nobody away for want of an identity before it is enforced for all', async () => {
    const rule = { limit: 1, key: () => undefined };
    const some = await start({ ...rule, enforcePercent: 99.9 }, { identity: { anonymous: 'deny' } });
    expect(await some.statuses(2, '/page')).toEqual([200, 200]);
    const all = await start({ ...rule, enforcePercent: 100 }, { identity: { anonymous: 'deny' } });
    expect(await all.statuses(1, '/page')).toEqual([403]);
  });
});
