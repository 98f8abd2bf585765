import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, type ExecutionContext } from '@nestjs/common';
import { RateLimit, RateLimiter, RateLimitGuard, SkipRateLimit, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { as, AuthenticationGuard, from, requestOf } from '../support/authentication.ts';
import { eventually } from '../support/eventually.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS, type Answer } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const userOf = (context: ExecutionContext): unknown => requestOf(context).user?.['id'];

/** A function that is in a rule and in a list. */
const isMonitor = Object.assign(
  () => {
    isMonitor.asked++;
    return false;
  },
  { asked: 0 },
);

@Controller()
class ListedController {
  @RateLimit({ limit: 1, type: 'IP', skip: isMonitor })
  @Get('unless-monitor')
  unlessMonitor() {}

  @RateLimit({ name: 'address', limit: 1, type: 'IP' })
  @Get('address')
  address() {}

  @RateLimit({ name: 'all', limit: 1 })
  @Get('all')
  all() {}

  @UseGuards(AuthenticationGuard)
  @RateLimit({ name: 'desk-address', limit: 2, type: 'IP' }, { name: 'desk', limit: 1, type: 'USER' })
  @Get('desk')
  desk() {}

  @UseGuards(AuthenticationGuard)
  @RateLimit({ name: 'gate', limit: 2, type: 'IP' })
  @Get('gate')
  gate() {}

  @UseGuards(AuthenticationGuard)
  @RateLimit({ name: 'failures', limit: 2, type: 'IP', count: 'failed' })
  @Get('failures')
  failures() {}

  @UseGuards(AuthenticationGuard)
  @RateLimit({ name: 'shadow', limit: 2, type: 'IP', mode: 'shadow' })
  @Get('shadow')
  shadow() {}

  @SkipRateLimit()
  @Get('free')
  free() {}
}

@UseGuards(AuthenticationGuard, RateLimitGuard)
@Controller()
class PlacedController {
  @RateLimit({ limit: 1 })
  @Get('placed')
  placed() {}
}

const controllers = [ListedController];
const LISTED = '203.0.113.7';
const OTHER = '198.51.100.1';

const limitFields = ({ headers }: Answer): readonly string[] =>
  [...headers.keys()].filter((name) => /ratelimit|retry-after/.test(name));

describe.each(PLATFORMS)('lists of clients on %s', (platform) => {
  const redis = useRedis();
  const startApp = useApps();

  const start = async (options: RateLimitModuleOptions, more: object = {}) => {
    const app = await startApp(platform, { controllers, options, trustProxy: true, ...more });
    return { ...app, limiter: app.app.get(RateLimiter) };
  };

  describe('of addresses', () => {
    it('let those pass who are allowed, charge them nothing and tell them nothing', async () => {
      const app = await start({ allow: { addresses: [LISTED] } });
      for (let i = 0; i < 3; i++) {
        const answer = await app.get('/address', from(LISTED));
        expect([answer.status, limitFields(answer)]).toEqual([200, []]);
      }
      expect(await app.statuses(2, '/all', from(LISTED))).toEqual([200, 200]);
      expect(app.store.consumed).toEqual([]);
      expect(await app.statuses(2, '/address', from(OTHER))).toEqual([200, 429]);
    });

    it('refuse those who are denied with 403, charge them nothing and tell them nothing', async () => {
      const app = await start({ deny: { addresses: [LISTED] } });
      const answer = await app.get('/address', from(LISTED));
      expect([answer.status, limitFields(answer)]).toEqual([403, []]);
      expect(answer.json).toEqual({ statusCode: 403, message: 'Forbidden' });
      expect(await app.statuses(1, '/all', from(LISTED))).toEqual([403]);
      expect(app.store.consumed).toEqual([]);
      expect(await app.statuses(2, '/address', from(OTHER))).toEqual([200, 429]);
    });

    it('deny before the guards do their work', async () => {
      const app = await start({ deny: { addresses: [LISTED] } });
      expect((await app.get('/desk', from(LISTED))).status).toBe(403);
      expect((await app.get('/desk', from(OTHER))).status).toBe(401);
    });

    it('hold for ranges, and for addresses in whatever spelling', async () => {
      const app = await start({ deny: { addresses: ['203.0.113.0/24', '2001:db8:7::/48', '2001:db8:9::1'] } });
      const statusOf = async (address: string) => (await app.get('/address', from(address))).status;
      expect(await statusOf('203.0.113.200')).toBe(403);
      expect(await statusOf('::ffff:203.0.113.200')).toBe(403);
      expect(await statusOf('203.0.114.0')).toBe(200);
      expect(await statusOf('2001:0DB8:7:ffff::1')).toBe(403);
      expect(await statusOf('2001:db8:8::1')).toBe(200);
      expect(await statusOf('2001:db8:9:0:0::1')).toBe(403);
    });

    it('know IPv6 clients by their whole address, though they share a budget', async () => {
      const app = await start({ allow: { addresses: ['2001:db8:9::1'] } });
      expect(await app.statuses(2, '/address', from('2001:db8:9::1'))).toEqual([200, 200]);
      expect(await app.statuses(2, '/address', from('2001:db8:9::2'))).toEqual([200, 429]);
    });

    it('go by the address of the connection where no proxy is trusted', async () => {
      const app = await start({ deny: { addresses: ['127.0.0.1'] } }, { trustProxy: false });
      expect(await app.statuses(1, '/address', from(OTHER))).toEqual([403]);
      const other = await start({ allow: { addresses: [LISTED] } }, { trustProxy: false });
      expect(await other.statuses(2, '/address', from(LISTED))).toEqual([200, 429]);
    });

    it('go by what identity.ip finds', async () => {
      const ip = (context: ExecutionContext) => requestOf(context).headers['cf-connecting-ip'];
      const app = await start({ identity: { ip }, deny: { addresses: [LISTED] } });
      expect(await app.statuses(1, '/all', { headers: { 'cf-connecting-ip': LISTED } })).toEqual([403]);
      expect(await app.statuses(1, '/all', { headers: { 'cf-connecting-ip': OTHER } })).toEqual([200]);
    });

    it('deny whoever is allowed, too', async () => {
      const app = await start({ allow: { addresses: ['203.0.113.0/24'] }, deny: { addresses: [LISTED] } });
      expect(await app.statuses(1, '/address', from(LISTED))).toEqual([403]);
      expect(await app.statuses(2, '/address', from('203.0.113.8'))).toEqual([200, 200]);
    });

    it.each([
      ['is missing', () => undefined],
      ['is no address', () => 'unknown\n'],
      [
        'cannot be found',
        () => {
          throw new Error('no header');
        },
      ],
    ])('refuse whose address %s as unavailable where addresses are denied', async (_, ip) => {
      const logger = new LogLines();
      const app = await start({ identity: { ip }, deny: { addresses: [LISTED] } }, { logger });
      const answer = await app.get('/all');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      await app.get('/all');
      expect(logger.errors).toEqual([
        expect.stringMatching(
          /^error: option deny: it cannot be judged, the request is refused as unavailable: "Missing/,
        ),
      ]);
    });

    it('limit whose address is missing where addresses are only allowed', async () => {
      const app = await start({ identity: { ip: () => undefined }, allow: { addresses: [LISTED] } });
      expect(await app.statuses(2, '/all')).toEqual([200, 429]);
    });

    it('hold for no handler without rules', async () => {
      const app = await start({ deny: { addresses: ['127.0.0.1'] } }, { trustProxy: false });
      expect(await app.statuses(1, '/free')).toEqual([200]);
    });

    it('hold for nobody when limits are off, or when they are empty', async () => {
      const off = await start({ enabled: false, deny: { addresses: ['0.0.0.0/0'] } });
      expect(await off.statuses(1, '/address')).toEqual([200]);
      const empty = await start({ identity: { ip: () => undefined }, deny: { addresses: [], users: [] }, allow: {} });
      expect(await empty.statuses(2, '/all')).toEqual([200, 429]);
      const users = await start({ identity: { ip: () => undefined }, deny: { addresses: [], users: ['mallory'] } });
      expect(await users.statuses(2, '/all')).toEqual([200, 429]);
    });

    it('do not hold for the limiter service, which knows no requests', async () => {
      const { limiter } = await start({ allow: { addresses: [LISTED] }, deny: { addresses: [OTHER] } });
      expect(await limiter.consume('address', LISTED)).toMatchObject({ allowed: true, budgets: [{ remaining: 0 }] });
      expect(await limiter.consume('address', LISTED)).toMatchObject({ allowed: false });
      expect(await limiter.consume('address', OTHER)).toMatchObject({ allowed: true });
    });
  });

  describe('of users', () => {
    it('let those pass who are allowed, give back what was taken before they were known, and tell nothing', async () => {
      const app = await start({ allow: { users: ['alice'] }, headers: ['legacy', 'draft-11'] });
      for (let i = 0; i < 4; i++) {
        const answer = await app.get('/desk', as('alice'));
        expect([answer.status, limitFields(answer)]).toEqual([200, []]);
      }
      expect((await app.limiter.peek('desk-address', '127.0.0.1')).budgets).toMatchObject([{ remaining: 2 }]);
      expect(await app.statuses(2, '/desk', as('bob'))).toEqual([200, 429]);
    });

    it('refuse those who are denied with 403, give back what was taken before, and tell nothing', async () => {
      const app = await start({ deny: { users: ['mallory'] } });
      for (let i = 0; i < 4; i++) {
        const answer = await app.get('/desk', as('mallory'));
        expect([answer.status, limitFields(answer)]).toEqual([403, []]);
      }
      expect((await app.limiter.peek('desk-address', '127.0.0.1')).budgets).toMatchObject([{ remaining: 2 }]);
      expect(await app.statuses(2, '/desk', as('bob'))).toEqual([200, 429]);
    });

    it('are judged on handlers of which no rule waits for the user', async () => {
      const app = await start({ allow: { users: ['alice'] }, deny: { users: ['mallory'] } });
      expect(await app.statuses(3, '/gate', as('alice'))).toEqual([200, 200, 200]);
      expect(await app.statuses(3, '/gate', as('mallory'))).toEqual([403, 403, 403]);
      expect(await app.statuses(3, '/gate', as('bob'))).toEqual([200, 200, 429]);
    });

    it('give back once what rules that count by outcome took', async () => {
      const app = await start({ allow: { users: ['alice'] }, deny: { users: ['mallory'] } });
      expect(await app.statuses(3, '/failures', as('mallory'))).toEqual([403, 403, 403]);
      expect(await app.statuses(3, '/failures', as('alice'))).toEqual([200, 200, 200]);
      expect((await app.limiter.peek('failures', '127.0.0.1')).budgets).toMatchObject([{ remaining: 2 }]);
      expect(app.store.refunded).toHaveLength(6);
    });

    it('give back what was taken in shadow', async () => {
      const app = await start({ allow: { users: ['alice'] }, deny: { users: ['mallory'] } });
      expect(await app.statuses(3, '/shadow', as('alice'))).toEqual([200, 200, 200]);
      expect(await app.statuses(3, '/shadow', as('mallory'))).toEqual([403, 403, 403]);
      const taken = app.store.consumed.map(({ id }) => id);
      await eventually(async () => app.store.refunded.length === taken.length);
      expect(app.store.refunded.map(({ id }) => id).sort()).toEqual([...taken].sort());
    });

    it('are not judged when limits were switched off meanwhile', async () => {
      const app = await start({ deny: { users: ['mallory'] }, enabled: () => true });
      app.limiter.disable();
      expect(await app.statuses(1, '/desk', as('mallory'))).toEqual([200]);
      app.limiter.enable();
      expect(await app.statuses(1, '/desk', as('mallory'))).toEqual([403]);
    });

    it('take a refused log-in for nobody’s: what guards turn away stays charged', async () => {
      const app = await start({ allow: { users: ['alice'] }, deny: { users: ['mallory'] } });
      expect(await app.statuses(3, '/gate')).toEqual([401, 401, 429]);
    });

    it('deny whose address or user is allowed', async () => {
      const app = await start({
        allow: { addresses: ['127.0.0.1'], users: ['mallory'] },
        deny: { users: ['mallory'] },
      });
      const local = from('127.0.0.1', as('mallory'));
      expect(await app.statuses(1, '/desk', local)).toEqual([403]);
      expect(await app.statuses(1, '/desk', from(OTHER, as('mallory')))).toEqual([403]);
      expect(await app.statuses(3, '/desk', from('127.0.0.1', as('bob')))).toEqual([200, 200, 200]);
      expect(app.store.consumed).toHaveLength(1);
    });

    it('know users by what identity.user finds, asked once at each moment', async () => {
      let asked = 0;
      const user = async (context: ExecutionContext) => {
        asked++;
        return `user-${String(userOf(context))}`;
      };
      const options = { identity: { user }, allow: { users: ['user-alice'] }, deny: { users: ['user-mallory'] } };
      const app = await start(options);
      expect(await app.statuses(1, '/desk', as('bob'))).toEqual([200]);
      expect(asked).toBe(1);
      expect(await app.statuses(2, '/desk', as('alice'))).toEqual([200, 200]);
      expect(await app.statuses(1, '/desk', as('mallory'))).toEqual([403]);
    });

    it('name nobody when identity.user fails, which the log tells once a minute', async () => {
      const logger = new LogLines();
      const user = (): never => {
        throw new Error('no session');
      };
      const app = await start({ identity: { user }, allow: { users: ['a'] }, deny: { users: ['b'] } }, { logger });
      expect(await app.statuses(3, '/gate', as('a'))).toEqual([200, 200, 429]);
      expect(logger.errors).toEqual([
        'error: option deny: identity.user failed, the request is not denied by it: "Error: no session"',
        'error: option allow: identity.user failed, the request is limited as others are: "Error: no session"',
      ]);
    });

    it('name nobody who has no user', async () => {
      const app = await start({ allow: { users: ['undefined', 'null', '127.0.0.1'] }, deny: { users: ['undefined'] } });
      expect(await app.statuses(2, '/all')).toEqual([200, 429]);
    });
  });

  describe('by function', () => {
    it('are asked before the guards', async () => {
      const app = await start({
        allow: (context) => requestOf(context).headers['x-monitor'] === 'secret',
        deny: async (context) => requestOf(context).headers['user-agent'] === 'bad-bot',
      });
      const monitor = { headers: { 'x-monitor': 'secret' } };
      expect(await app.statuses(3, '/address', monitor)).toEqual([200, 200, 200]);
      expect(app.store.consumed).toEqual([]);
      expect(await app.statuses(1, '/desk', { headers: { 'user-agent': 'bad-bot' } })).toEqual([403]);
      const both = { headers: { ...monitor.headers, 'user-agent': 'bad-bot' } };
      expect(await app.statuses(1, '/address', both)).toEqual([403]);
      expect(await app.statuses(2, '/address')).toEqual([200, 429]);
    });

    it('are asked again after them, unless they said true', async () => {
      const asked: unknown[] = [];
      const app = await start({
        allow: (context) => {
          asked.push(userOf(context));
          return userOf(context) === 'alice' || requestOf(context).headers['x-monitor'] === 'secret';
        },
      });
      expect(await app.statuses(3, '/desk', as('alice'))).toEqual([200, 200, 200]);
      expect(asked).toEqual([undefined, 'alice', undefined, 'alice', undefined, 'alice']);
      asked.length = 0;
      await app.get('/desk', { headers: { ...as('bob').headers, 'x-monitor': 'secret' } });
      expect(asked).toEqual([undefined]);
      expect((await app.limiter.peek('desk-address', '127.0.0.1')).budgets).toMatchObject([{ remaining: 2 }]);
    });

    it('are asked once at each moment, though rules have them too', async () => {
      isMonitor.asked = 0;
      const app = await start({ allow: isMonitor, deny: isMonitor });
      expect(await app.statuses(1, '/unless-monitor')).toEqual([200]);
      expect(isMonitor.asked).toBe(2);
    });

    it('deny after the guards whom an address allowed before', async () => {
      const app = await start({
        allow: { addresses: ['127.0.0.1'] },
        deny: (context) => userOf(context) === 'mallory',
      });
      expect(await app.statuses(1, '/desk', as('mallory'))).toEqual([403]);
      expect(await app.statuses(1, '/desk', as('bob'))).toEqual([200]);
    });

    it.each([
      ['throws', () => Promise.reject(new Error('no list')), '"Error: no list"'],
      [
        'gives no boolean',
        () => 'yes' as unknown as boolean,
        String.raw`"TypeError: it gave \"yes\", not true or false"`,
      ],
    ])('name nobody when one %s, which the log tells once a minute', async (_, list, fault) => {
      const logger = new LogLines();
      const app = await start({ allow: list, deny: list }, { logger });
      expect(await app.statuses(3, '/gate', as('bob'))).toEqual([200, 200, 429]);
      expect(logger.errors).toEqual([
        `error: option deny: its function failed, the request is not denied by it: ${fault}`,
        `error: option allow: its function failed, the request is limited as others are: ${fault}`,
      ]);
    });

    it('may need the user, and fail before there is one', async () => {
      const logger = new LogLines();
      const allow = (context: ExecutionContext) => requestOf(context).user!['id'] === 'alice';
      const app = await start({ allow }, { logger });
      expect(await app.statuses(3, '/desk', as('alice'))).toEqual([200, 200, 200]);
      expect(logger.errors).toEqual([]);
    });
  });

  it('are judged where the application places the guard', async () => {
    const options = { guard: 'manual', allow: { users: ['alice'] }, deny: { users: ['mallory'] } } as const;
    const app = await startApp(platform, { controllers: [PlacedController], options });
    expect(await app.statuses(2, '/placed', as('alice'))).toEqual([200, 200]);
    expect(await app.statuses(1, '/placed', as('mallory'))).toEqual([403]);
    expect(app.store.consumed).toEqual([]);
    expect(await app.statuses(2, '/placed', as('bob'))).toEqual([200, 429]);
  });

  it('give back to Redis what was taken there', async () => {
    const inRedis = { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' };
    const app = await start({ ...inRedis, allow: { users: ['alice'] }, deny: { users: ['mallory'] } });
    expect(await app.statuses(3, '/gate', as('alice'))).toEqual([200, 200, 200]);
    expect(await app.statuses(3, '/gate', as('mallory'))).toEqual([403, 403, 403]);
    expect(await app.statuses(3, '/gate', as('bob'))).toEqual([200, 200, 429]);
  });
});
