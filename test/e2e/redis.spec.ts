import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Post, UseGuards } from '@nestjs/common';
import { RateLimit, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { as, AuthenticationGuard, from } from '../support/authentication.ts';
import { eventually } from '../support/eventually.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

@Controller('voucher-order')
class VoucherOrderController {
  @RateLimit({ window: '1m', limit: 50 })
  @Post('seckill/:id')
  seckill() {}

  @RateLimit({ window: '1m', limit: 1 }, { window: '1m', limit: 5, type: 'IP' })
  @UseGuards(AuthenticationGuard)
  @Get('mine')
  mine() {}

  @RateLimit(
    { window: '1m', limit: 9, type: 'USER', name: 'per-user' },
    { window: '2m', limit: 8, type: 'IP', bucket: 'browse' },
    { window: '3m', limit: 7, key: () => 'a b' },
  )
  @UseGuards(AuthenticationGuard)
  @Get('files/:name')
  files() {}
}

const controllers = [VoucherOrderController];

async function floodOf(calls: number, inFlight: number, apps: readonly LimitedApp[]): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  let sent = 0;
  const worker = async (): Promise<void> => {
    while (sent < calls) {
      const app = apps[sent++ % apps.length]!;
      const { status } = await app.post('/voucher-order/seckill/7');
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return counts;
}

describe.each(PLATFORMS)('limits in Redis on %s', (platform) => {
  const redis = useRedis();
  const start = useApps();
  // Nothing here is about answering in time, and the machine that runs the tests may be busy.
  const options: RateLimitModuleOptions = {
    redis: redis.url,
    keyPrefix: redis.keyPrefix,
    decisionTimeout: '30s',
    onStoreError: 'deny',
  };

  it('hold exactly over applications that share it', async () => {
    const apps = [await start(platform, { controllers, options }), await start(platform, { controllers, options })];

    expect(Object.fromEntries(await floodOf(400, 50, apps))).toEqual({ 201: 50, 429: 350 });
    const [log] = await redis.keys();
    expect(log).toBe(`${redis.keyPrefix}:{method:POST /voucher-order/seckill/:id}:60000`);
    expect(await redis.client.zcard(log!)).toBe(50);
  });

  it('are apart for applications with prefixes of their own', async () => {
    const [one, other] = [
      await start(platform, { controllers, options }),
      await start(platform, { controllers, options: { ...options, keyPrefix: `${redis.keyPrefix}:other` } }),
    ];

    expect(await one.statuses(2, '/voucher-order/mine', as('alice'))).toEqual([200, 429]);
    expect(await other.statuses(2, '/voucher-order/mine', as('alice'))).toEqual([200, 429]);
  });

  it('give back what the first moment took when the second refuses', async () => {
    const app = await start(platform, { controllers, options });
    expect(await app.statuses(4, '/voucher-order/mine', as('alice'))).toEqual([200, 429, 429, 429]);

    const byAddress = `${redis.keyPrefix}:{ip:127.0.0.1}:GET /voucher-order/mine:60000`;
    await eventually(async () => (await redis.client.zcard(byAddress)) === 1);
  });

  it('lie under keys that say whose budget it is and for what', async () => {
    const app = await start(platform, { controllers, options, trustProxy: true });
    await app.get('/voucher-order/files/a', from('2001:db8:1:2:3::4', as('alice')));

    const keys = (await redis.keys()).map((key) => key.slice(redis.keyPrefix.length + 1));
    expect(keys).toEqual([
      '{ip:2001:db8:1:2::/64}:bucket browse:120000',
      expect.stringMatching(/^\{key:%[\w-]{43}\}:GET \/voucher-order\/files\/:name:180000$/),
      expect.stringMatching(/^\{user:alice\}:GET \/voucher-order\/files\/:name\Wper-user:60000$/),
    ]);
  });
});
