import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type ExecutionContext } from '@nestjs/common';
import { RateLimit, RateLimiter } from 'nestjs-floodgate';
import { requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const WINDOW = 10;
const isFree = (context: ExecutionContext): boolean => requestOf(context).headers['x-free'] === 'yes';

@Controller()
class FreeController {
  @RateLimit({ name: 'orders', window: WINDOW, limit: 2, cost: (context) => (isFree(context) ? 0 : 1) })
  @Get('orders')
  orders() {}

  @RateLimit({ name: 'status', bucket: 'status', window: WINDOW, limit: 2, cost: 0 })
  @Get('status')
  status() {}

  @RateLimit({ bucket: 'status', window: WINDOW, limit: 2 })
  @Get('work')
  work() {}
}

const CASES = PLATFORMS.flatMap((platform) => ['in process', 'in Redis'].map((where) => [platform, where] as const));

describe.each(CASES)('a cost of 0, on %s, %s', (platform, where) => {
  const redis = useRedis();
  const start = useApps();
  const startHere = () => {
    const inRedis = { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' };
    const options = where === 'in Redis' ? inRedis : undefined;
    return start(platform, { controllers: [FreeController], ...(options && { options }) });
  };
  const free = { headers: { 'x-free': 'yes' } };

  it('from a function is free, but refused while the budget is used up', async () => {
    const { statuses } = await startHere();
    expect(await statuses(5, '/orders', free)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(1, '/orders')).toEqual([200]);
    expect(await statuses(1, '/orders', free)).toEqual([200]);
    expect(await statuses(1, '/orders')).toEqual([200]);
    expect(await statuses(2, '/orders', free)).toEqual([429, 429]);
  });

  it('is told like any other: what is left, and when to come back', async () => {
    const { get, statuses } = await startHere();
    const whole = await get('/status');
    expect(whole.headers.get('x-ratelimit-remaining')).toBe('2');
    expect(whole.headers.get('x-ratelimit-reset')).toBe('0');
    await statuses(2, '/work');
    const refused = await get('/status');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toMatch(/^(9|10)$/);
  });

  it('asks the limiter service whether there is room, and can be given to it', async () => {
    const { app, statuses } = await startHere();
    const limiter = app.get(RateLimiter);
    await limiter.consume('status', '');
    await limiter.consume('status', '', { cost: 1 });
    expect(await limiter.consume('status', '', { cost: 0 })).toMatchObject({ allowed: true });
    await statuses(1, '/work');
    expect(await limiter.consume('status', '')).toMatchObject({ allowed: false });
  });
});
