import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RateLimit, RateLimitGuard } from 'nestjs-floodgate';
import { as, AuthenticationGuard } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

function guardedBy(...guards: readonly Type[]) {
  @UseGuards(...guards)
  @Controller()
  class GuardedController {
    @RateLimit({ type: 'METHOD', limit: 2 })
    @Get('method')
    method() {}

    @RateLimit({ type: 'IP', limit: 2 })
    @Get('address')
    address() {}

    @RateLimit({ type: 'USER', limit: 2 })
    @Get('user')
    user() {}
  }
  return [GuardedController];
}

const ROUTES = ['/method', '/address', '/user'];

describe.each(PLATFORMS)('the guard on %s', (platform) => {
  const start = useApps();

  it.each(ROUTES)('charges %s once when the application places it besides', async (route) => {
    const app = await start(platform, {
      controllers: guardedBy(RateLimitGuard, AuthenticationGuard, RateLimitGuard),
      providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
    });

    expect(await app.statuses(3, route, as('alice'))).toEqual([200, 200, 429]);
    expect(app.store.consumed).toHaveLength(3);
  });

  describe('placed by the application alone', () => {
    const options = { guard: 'manual' } as const;

    it.each(ROUTES)('limits nothing on %s where it does not stand', async (route) => {
      const app = await start(platform, { controllers: guardedBy(AuthenticationGuard), options });

      expect(await app.statuses(3, route, as('alice'))).toEqual([200, 200, 200]);
      expect(app.store.consumed).toEqual([]);
    });

    it.each(ROUTES)('decides %s before the guards that stand behind it', async (route) => {
      const app = await start(platform, { controllers: guardedBy(RateLimitGuard, AuthenticationGuard), options });

      expect(await app.statuses(3, route)).toEqual([401, 401, 429]);
    });

    it.each(ROUTES)('decides %s after the guards that stand before it', async (route) => {
      const app = await start(platform, { controllers: guardedBy(AuthenticationGuard, RateLimitGuard), options });

      expect(await app.statuses(3, route)).toEqual([401, 401, 401]);
      expect(app.store.consumed).toEqual([]);
      expect(await app.statuses(3, route, as('alice'))).toEqual([200, 200, 429]);
    });

    it('knows the users that the guards before it found', async () => {
      const app = await start(platform, { controllers: guardedBy(AuthenticationGuard, RateLimitGuard), options });

      expect(await app.statuses(3, '/user', as('alice'))).toEqual([200, 200, 429]);
      expect(await app.statuses(3, '/user', as('bob'))).toEqual([200, 200, 429]);
    });

    it('limits the whole application as APP_GUARD', async () => {
      const app = await start(platform, {
        controllers: guardedBy(AuthenticationGuard),
        providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
        options,
      });

      expect(await app.statuses(3, '/user')).toEqual([401, 401, 429]);
    });

    it('limits the whole application with useGlobalGuards', async () => {
      const app = await start(platform, {
        controllers: guardedBy(AuthenticationGuard),
        configure: (nest) => nest.useGlobalGuards(nest.get(RateLimitGuard)),
        options,
      });

      expect(await app.statuses(3, '/address')).toEqual([401, 401, 429]);
    });

    it('limits nothing when limits are switched off', async () => {
      const app = await start(platform, {
        controllers: guardedBy(RateLimitGuard),
        options: { ...options, enabled: false },
      });

      expect(await app.statuses(3, '/address')).toEqual([200, 200, 200]);
    });

    it('charges once where it is met twice', async () => {
      const app = await start(platform, { controllers: guardedBy(RateLimitGuard, RateLimitGuard), options });

      expect(await app.statuses(3, '/method')).toEqual([200, 200, 429]);
    });
  });
});
