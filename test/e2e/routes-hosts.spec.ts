import { request } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@RateLimit({ limit: 5, window: '1m' })
@Controller({ path: 'admin', host: 'admin.example.com' })
class AdminController {
  @RateLimit({ limit: 1 })
  @Get()
  get() {}
}

@Controller({ path: 'shop', host: ['shop.example.com', 'store.example.com'] })
class ShopController {
  @RateLimit({ limit: 1 })
  @Get()
  get() {}
}

@Controller({ path: 'tenant', host: ':tenant.example.org' })
class TenantController {
  @RateLimit({ limit: 1 })
  @Get()
  get() {}
}

@Controller({ path: 'pattern', host: /^(a|b)\d{2}\.example\.net$/ })
class PatternController {
  @RateLimit({ limit: 1 })
  @Get()
  get() {}
}

const controllers = [AdminController, ShopController, TenantController, PatternController];

/** The status of a call to this host; `fetch` sends none but the one it connects to. */
const statusAt = ({ url }: LimitedApp, host: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(`${url}${path}`, { headers: { host }, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    })
      .on('error', reject)
      .end();
  });

describe.each(PLATFORMS)('a host on %s', (platform) => {
  const start = useApps();

  it('is part of the place of a handler and of its controller', async () => {
    const app = await start(platform, { controllers });

    expect(await statusAt(app, 'admin.example.com', '/admin')).toBe(200);
    expect(await statusAt(app, 'admin.example.com', '/admin')).toBe(429);
    expect(new Set(app.store.chargedKeys)).toEqual(
      new Set(['{method:GET admin.example.com/admin}', '{method:admin.example.com/admin/*}']),
    );
  });

  it('shares the budget of its handler with the other hosts', async () => {
    const app = await start(platform, { controllers });

    expect(await statusAt(app, 'store.example.com', '/shop')).toBe(200);
    expect(await statusAt(app, 'shop.example.com', '/shop')).toBe(429);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET shop.example.com/shop}']));
  });

  it('shares the budget of its handler with every other value of a parameter in it', async () => {
    const app = await start(platform, { controllers });

    expect(await statusAt(app, 'one.example.org', '/tenant')).toBe(200);
    expect(await statusAt(app, 'two.example.org', '/tenant')).toBe(429);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET :tenant.example.org/tenant}']));
  });

  it('may be a pattern, whose braces do not end the part of the key that chooses the slot', async () => {
    const app = await start(platform, { controllers });

    expect(await statusAt(app, 'a12.example.net', '/pattern')).toBe(200);
    expect(await statusAt(app, 'b34.example.net', '/pattern')).toBe(429);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET ^(a|b)\\d%7B2%7D\\.example\\.net$/pattern}']));
  });

  it('that no controller has charges nothing', async () => {
    const app = await start(platform, { controllers, options: { rules: [{ limit: 1 }] } });

    expect(await statusAt(app, 'elsewhere.example.com', '/admin')).toBe(404);
    expect(app.store.consumed).toEqual([]);
  });
});

describe('hosts of one path on express', () => {
  const start = useApps();

  // Not on Fastify, where Nest declares one path for each host again and the start fails.
  it('have a budget each', async () => {
    @Controller({ path: 'admin', host: 'other.example.com' })
    class OtherController {
      @RateLimit({ limit: 1 })
      @Get()
      get() {}
    }
    const app = await start('express', { controllers: [AdminController, OtherController] });

    expect(await statusAt(app, 'admin.example.com', '/admin')).toBe(200);
    expect(await statusAt(app, 'other.example.com', '/admin')).toBe(200);
    expect(await statusAt(app, 'other.example.com', '/admin')).toBe(429);
    expect(await statusAt(app, 'admin.example.com', '/admin')).toBe(429);
  });
});
