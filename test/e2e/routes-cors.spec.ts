import { describe, expect, it } from '@jest/globals';
import { All, Controller, Get, Post, type INestApplication } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS, type CallOptions } from '../support/nest-app.ts';

@Controller()
class ShopController {
  @RateLimit({ limit: 1, type: 'IP' })
  @Post('order')
  order() {}

  @RateLimit({ limit: 1 })
  @All('any')
  any() {}

  @Get('free')
  free() {}
}

const controllers = [ShopController];
const ORIGIN = 'https://shop.example';
const fromBrowser: CallOptions = { headers: { origin: ORIGIN } };

const preflight = (app: LimitedApp, path: string) =>
  app.call('OPTIONS', path, { headers: { origin: ORIGIN, 'access-control-request-method': 'POST' } });

describe.each(PLATFORMS)('a CORS preflight on %s', (platform) => {
  const start = useApps();
  const configure = (app: INestApplication): void =>
    app.enableCors({ origin: ORIGIN, exposedHeaders: ['X-RateLimit-Remaining', 'Retry-After'] });

  it.each(['/order', '/any', '/nowhere'])('of %s is never limited and charges nothing', async (path) => {
    const app = await start(platform, { controllers, configure, options: { rules: [{ limit: 1, name: 'all' }] } });
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await preflight(app, path);
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(headers.has('x-ratelimit-limit')).toBe(false);
    }

    expect(app.store.consumed).toEqual([]);
  });

  it('leaves the whole budget to the request that follows it', async () => {
    const app = await start(platform, { controllers, configure });
    await preflight(app, '/order');

    expect((await app.post('/order', fromBrowser)).status).toBe(201);
    await preflight(app, '/order');
    expect((await app.post('/order', fromBrowser)).status).toBe(429);
  });

  it('is answered when the budget is used up', async () => {
    const app = await start(platform, { controllers, configure });
    await app.post('/order', fromBrowser);
    await app.post('/order', fromBrowser);

    expect((await preflight(app, '/order')).status).toBe(204);
  });

  it('is a request like any other for a handler of every verb, where CORS is off', async () => {
    const app = await start(platform, { controllers });

    expect((await preflight(app, '/any')).status).toBe(200);
    expect((await preflight(app, '/any')).status).toBe(429);
  });

  it('is followed by refusals whose header fields the page may read', async () => {
    const app = await start(platform, { controllers, configure });
    await app.post('/order', fromBrowser);
    const { status, headers } = await app.post('/order', fromBrowser);

    expect(status).toBe(429);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-expose-headers')).toMatch(/X-RateLimit-Remaining, ?Retry-After/);
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
  });
});
