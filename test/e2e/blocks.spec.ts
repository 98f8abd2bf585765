import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { RateLimit, RateLimiter, type DecisionEvent, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { as, AuthenticationGuard, from, requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS, type Answer } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const BLOCK = { after: 3, within: '1m', for: '10m' } as const;

@Controller()
class BlockingController {
  @RateLimit({
    name: 'login',
    window: '20s',
    limit: 2,
    type: 'IP',
    block: BLOCK,
    message: ({ refusedBy: [{ isBlock }] }) => (isBlock ? 'blocked' : 'slower'),
  })
  @Get('login')
  login() {}

  @UseGuards(AuthenticationGuard)
  @RateLimit(
    { name: 'desk', window: '20s', limit: 1, type: 'USER', block: BLOCK },
    { name: 'all', window: '20s', limit: 100 },
  )
  @Get('desk')
  desk() {}

  @RateLimit({
    name: 'tenant',
    window: '20s',
    limit: 1,
    key: (context) => requestOf(context).headers['x-tenant'],
    block: { ...BLOCK, for: '5s' },
  })
  @Get('tenant')
  tenant() {}
}

const CASES = PLATFORMS.flatMap((platform) => ['in process', 'in Redis'].map((where) => [platform, where] as const));

describe.each(CASES)('a rule that blocks, on %s, with budgets %s', (platform, where) => {
  const redis = useRedis();
  const startApp = useApps();

  const start = async (options: RateLimitModuleOptions = {}) => {
    const inRedis = where === 'in Redis' && { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' };
    const parts = { controllers: [BlockingController], options: { ...inRedis, ...options }, trustProxy: true };
    const app = await startApp(platform, parts);
    return { ...app, limiter: app.app.get(RateLimiter) };
  };
  const waits = ({ status, headers }: Answer): readonly [number, number] => [
    status,
    Math.round(Number(headers.get('retry-after')) / 10) * 10,
  ];

  it('refuses a client for the time of the block from the nth refusal on, and no other client', async () => {
    const { get, statuses } = await start();
    expect(await statuses(2, '/login', from('203.0.113.7'))).toEqual([200, 200]);
    const refused: Answer[] = [];
    for (let i = 0; i < 5; i++) refused.push(await get('/login', from('203.0.113.7')));
    expect(refused.map(waits)).toEqual([
      [429, 20],
      [429, 20],
      [429, 600],
      [429, 600],
      [429, 600],
    ]);
    expect(refused.map(({ json }) => (json as { message: string }).message)).toEqual([
      'slower',
      'slower',
      'blocked',
      'blocked',
      'blocked',
    ]);
    expect(await statuses(1, '/login', from('203.0.113.8'))).toEqual([200]);
  });

  it('tells a block as the rule itself: its name, its limit, and nothing left until the end', async () => {
    const { get, statuses } = await start({ headers: ['legacy', 'draft-11'] });
    await statuses(5, '/login');
    const { headers, json } = await get('/login');
    const seconds = Number(headers.get('retry-after'));
    expect(json).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'blocked',
      rule: 'login',
      limit: 2,
      retryAfter: seconds,
    });
    expect(headers.get('x-ratelimit-limit')).toBe('2');
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    expect(headers.get('x-ratelimit-reset')).toBe(String(seconds));
    expect(headers.get('ratelimit-policy')).toBe('"login";q=2;w=20');
    expect(headers.get('ratelimit')).toBe(`"login";r=0;t=${seconds}`);
  });

  it('says nothing of the block in answers that it admits', async () => {
    const { get } = await start({ headers: 'draft-11' });
    const { headers } = await get('/login');
    expect(headers.get('ratelimit-policy')).toBe('"login";q=2;w=20');
    expect(headers.get('ratelimit')).toBe('"login";r=1;t=20');
  });

  it('blocks users after the guards, and what they are refused costs nothing to the rules of all', async () => {
    const { get, statuses, limiter } = await start();
    expect(await statuses(5, '/desk', as('alice'))).toEqual([200, 429, 429, 429, 429]);
    expect(waits(await get('/desk', as('alice')))).toEqual([429, 600]);
    expect((await limiter.peek('all', '')).budgets).toMatchObject([{ remaining: 99 }]);
    expect(await statuses(1, '/desk', as('bob'))).toEqual([200]);
  });

  it('counts refusals of requests and of the limiter service together', async () => {
    const { statuses, limiter } = await start();
    await statuses(3, '/login', from('203.0.113.7'));
    await limiter.consume('login', '203.0.113.7');
    expect(await limiter.peek('login', '203.0.113.7')).toMatchObject({ refusedBy: [{ rule: 'login', limit: 2 }] });
    const denied = await limiter.consume('login', '203.0.113.7');
    expect(denied).toMatchObject({ allowed: false, refusedBy: [{ rule: 'login', limit: 2, isBlock: true }] });
    expect(await limiter.peek('login', '203.0.113.7')).toMatchObject({ refusedBy: [{ isBlock: true }] });
    expect(await limiter.consume('login', '203.0.113.8')).toMatchObject({ allowed: true });
  });

  it('ends with a reset, and so do the refusals before it', async () => {
    const { statuses, limiter } = await start();
    const client = from('203.0.113.7');
    expect(await statuses(6, '/login', client)).toEqual([200, 200, 429, 429, 429, 429]);
    await limiter.reset('login', '203.0.113.7');
    expect(await statuses(4, '/login', client)).toEqual([200, 200, 429, 429]);
    expect(await limiter.peek('login', '203.0.113.7')).not.toMatchObject({ refusedBy: [{ isBlock: true }] });
  });

  it('refunds what it admitted', async () => {
    const { limiter } = await start();
    const decision = await limiter.consume('login', '203.0.113.7');
    if (!decision.allowed) throw new Error('it was refused');
    await limiter.refund(decision);
    expect((await limiter.peek('login', '203.0.113.7')).budgets).toMatchObject([{ remaining: 2 }]);
  });

  it('may be given to the limiter service', async () => {
    const { limiter } = await start();
    const rule = { name: 'sms', window: '1m', limit: 1, block: { after: 2, within: '1m', for: '1h' } } as const;
    const decisions = [];
    for (let i = 0; i < 4; i++) decisions.push(await limiter.consume(rule, '+49 170 1234567'));
    expect(decisions.map((decision) => decision.allowed || (decision.refusedBy[0].isBlock ?? false))).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, false, false, false]);
  });

  it('lets nobody whom it blocks wait for his turn, or take what there is', async () => {
    const { statuses, limiter } = await start();
    await statuses(5, '/login', from('203.0.113.7'));
    const blocked = { allowed: false, refusedBy: [{ rule: 'login', limit: 2, isBlock: true }] };
    expect(await limiter.acquire('login', '203.0.113.7', { maxWait: '30s' })).toMatchObject(blocked);
    expect(await limiter.consumeUpTo('login', '203.0.113.7', 2)).toMatchObject(blocked);
    expect(await limiter.acquire('login', '203.0.113.8')).toMatchObject({ allowed: true });
    for (let i = 0; i < 5; i++) await limiter.consumeUpTo('login', '203.0.113.8', 2);
    expect(await limiter.peek('login', '203.0.113.8')).not.toMatchObject({ refusedBy: [{ isBlock: true }] });
  });

  it('tells who subscribes to decisions that it blocked', async () => {
    const { statuses, limiter } = await start();
    const events: DecisionEvent[] = [];
    limiter.decisions$.subscribe((event) => events.push(event));
    await statuses(6, '/login');
    expect(events.map(({ rule, outcome }) => `${rule} ${outcome}`)).toEqual([
      'login allowed',
      'login allowed',
      'login refused',
      'login refused',
      'login blocked',
      'login blocked',
    ]);
  });

  it('tells when its own limit has room, where that is later than the end of the block', async () => {
    const { get, statuses } = await start();
    const client = { headers: { 'x-tenant': 'acme' } };
    await statuses(3, '/tenant', client);
    expect(waits(await get('/tenant', client))).toEqual([429, 20]);
    expect(waits(await get('/tenant', client))).toEqual([429, 20]);
  });

  if (where === 'in process') {
    it('ends when it said', async () => {
      const { clock, get, statuses } = await start();
      await statuses(4, '/login');
      expect((await get('/login')).headers.get('retry-after')).toBe('600');
      clock.advance(599_999);
      expect((await get('/login')).headers.get('retry-after')).toBe('1');
      clock.advance(1);
      expect(await statuses(3, '/login')).toEqual([200, 200, 429]);
    });
  }
});
