import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { RateLimit, RateLimiter, SkipRateLimit, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';
import { startMessageOfOptions } from '../support/start-error.ts';

let onTheWay: () => void = () => undefined;

/** Something happens between the moments. */
@Injectable()
class EventfulGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (requestOf(context).headers['x-event']) onTheWay();
    return true;
  }
}

@Controller()
class SwitchedController {
  @RateLimit({ name: 'post', limit: 1, window: '1m', type: 'IP' })
  @Get('post')
  post() {}

  @RateLimit({ limit: 5, window: '1m', type: 'IP' }, { limit: 1, window: '1m' })
  @UseGuards(EventfulGuard)
  @Get('both')
  both() {}

  @SkipRateLimit()
  @Get('free')
  free() {}
}

const STORES = ['in process', 'in Redis'] as const;

describe.each(PLATFORMS)('switches on %s', (platform) => {
  const redis = useRedis();
  const startApp = useApps();
  const start = async (options: RateLimitModuleOptions = {}) => {
    const logger = new LogLines();
    const app = await startApp(platform, { controllers: [SwitchedController], logger, options });
    return { ...app, logger, limiter: app.app.get(RateLimiter) };
  };
  const inStore = (store: (typeof STORES)[number]): RateLimitModuleOptions =>
    store === 'in Redis' ? { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' } : {};

  it.each(STORES)('turn limits off and on while running; what was not charged is not counted, %s', async (store) => {
    const { statuses, get, limiter, logger } = await start(inStore(store));
    expect(limiter.isEnabled).toBe(true);

    limiter.disable();
    limiter.disable();
    expect(limiter.isEnabled).toBe(false);
    expect(await statuses(3, '/post')).toEqual([200, 200, 200]);
    expect((await get('/post')).headers.get('x-ratelimit-limit')).toBeNull();

    limiter.enable();
    expect(limiter.isEnabled).toBe(true);
    expect(await statuses(2, '/post')).toEqual([200, 429]);
    limiter.disable();
    expect(await statuses(2, '/post')).toEqual([200, 200]);
    expect(logger.matching(/switched/)).toEqual([
      expect.stringContaining('Limits are switched off'),
      expect.stringContaining('Limits are switched on again'),
      expect.stringContaining('Limits are switched off'),
    ]);
  });

  it('hold for the service too; what was taken before can be given back, and budgets made whole', async () => {
    const { limiter, store } = await start();
    const rule = { name: 'sms', limit: 1, window: '1m' } as const;
    const taken = await limiter.consume(rule, 'alice');
    limiter.disable();

    expect(await limiter.consume(rule, 'alice')).toMatchObject({ allowed: true, budgets: [] });
    expect(await limiter.peek(rule, 'alice')).toEqual({ allowed: true, budgets: [] });
    expect(store.consumed).toHaveLength(1);
    if (taken.allowed) await limiter.refund(taken);
    limiter.enable();
    expect(await limiter.consume(rule, 'alice')).toMatchObject({ allowed: true });
    limiter.disable();
    await limiter.reset(rule, 'alice');
    limiter.enable();
    expect(await limiter.consume(rule, 'alice')).toMatchObject({ allowed: true });
  });

  it('by a function: asked once for each request with rules, and at once', async () => {
    let isOn = false;
    let asked = 0;
    const { statuses, limiter } = await start({ enabled: () => (asked++, isOn) });

    expect(await statuses(2, '/both')).toEqual([200, 200]);
    expect(asked).toBe(2);
    await statuses(2, '/free');
    expect(asked).toBe(2);
    expect(limiter.isEnabled).toBe(false);
    isOn = true;
    expect(await statuses(2, '/both')).toEqual([200, 429]);
    limiter.disable();
    expect(await statuses(1, '/both')).toEqual([200]);
    limiter.enable();
    expect(await statuses(1, '/both')).toEqual([429]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no centre\n');
      },
    ],
    ['gives a promise', () => Promise.resolve(false)],
    ['gives a promise that is rejected', () => Promise.reject(new Error('no centre'))],
    ['gives nothing', () => undefined],
    ['gives text', () => 'false'],
  ])('leave limits on where the function %s, and tell it once', async (_, enabled) => {
    const { statuses, logger } = await start({ enabled: enabled as () => boolean });

    expect(await statuses(3, '/post')).toEqual([200, 429, 429]);
    expect(logger.errors).toEqual([expect.stringMatching(/The function in option enabled .*Limits stay on/)]);
  });

  it('let a request go on that is between its moments', async () => {
    const { get, limiter, statuses } = await start();
    expect(await statuses(2, '/both')).toEqual([200, 429]);
    onTheWay = () => limiter.disable();

    expect((await get('/both', { headers: { 'x-event': 'yes' } })).status).toBe(200);
    limiter.enable();
    expect(await statuses(1, '/both')).toEqual([429]);
  });

  it('cannot turn on what is off from the start', async () => {
    const { limiter, statuses, store } = await start({ enabled: false });
    limiter.enable();

    expect(limiter.isEnabled).toBe(false);
    expect(await statuses(3, '/post')).toEqual([200, 200, 200]);
    expect(store.consumed).toEqual([]);
  });
});

describe('the option enabled', () => {
  it.each(['yes', 'false', 1, 0, null, {}])('fails the start: %j', async (enabled) => {
    expect(await startMessageOfOptions({ enabled })).toMatch(
      /option enabled must be true, false or a function.*, got /,
    );
  });
});
