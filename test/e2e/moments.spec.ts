import { beforeEach, describe, expect, it } from '@jest/globals';
import { applyDecorators, Controller, Get, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RateLimit } from 'nestjs-floodgate';
import { as, AuthenticationGuard } from '../support/authentication.ts';
import { useApps, type LimitedApp, type LimitedAppParts } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const POSITIONS = [
  'as APP_GUARD in a module imported before the limits',
  'as APP_GUARD in a module imported after the limits',
  'as APP_GUARD in the root module',
  'with useGlobalGuards',
  'on the controller',
  'on the method',
] as const;
type Position = (typeof POSITIONS)[number] | 'nowhere';

const authentication = { provide: APP_GUARD, useClass: AuthenticationGuard };

function shopGuarded(position: Position): LimitedAppParts {
  const guarded = (here: Position) => applyDecorators(...(position === here ? [UseGuards(AuthenticationGuard)] : []));

  @guarded('on the controller')
  @Controller('shop')
  class ShopController {
    @RateLimit({ type: 'IP', limit: 3 })
    @guarded('on the method')
    @Get('by-address')
    byAddress() {}

    @guarded('on the method')
    @RateLimit({ type: 'METHOD', limit: 3 })
    @Get('by-method')
    byMethod() {}

    @Get('by-user')
    @guarded('on the method')
    @RateLimit({ type: 'USER', limit: 3 })
    byUser() {}
  }

  @Module({ providers: [authentication] })
  class AuthenticationModule {}

  const imports = (limits: DynamicModule): readonly (DynamicModule | Type)[] => {
    if (position === 'as APP_GUARD in a module imported before the limits') return [AuthenticationModule, limits];
    if (position === 'as APP_GUARD in a module imported after the limits') return [limits, AuthenticationModule];
    return [limits];
  };
  return {
    controllers: [ShopController],
    imports,
    providers: position === 'as APP_GUARD in the root module' ? [authentication] : [],
    configure: (app) => {
      if (position === 'with useGlobalGuards') app.useGlobalGuards(new AuthenticationGuard());
    },
  };
}

describe.each(PLATFORMS)('the moment of decision on %s', (platform) => {
  const start = useApps();

  describe.each(POSITIONS)('with authentication %s', (position) => {
    let app: LimitedApp;
    beforeEach(async () => {
      app = await start(platform, shopGuarded(position));
    });

    it('charges the address of requests that authentication refuses, and stops them before it', async () => {
      expect(await app.statuses(4, '/shop/by-address')).toEqual([401, 401, 401, 429]);
      expect(await app.statuses(1, '/shop/by-address', as('alice'))).toEqual([429]);
    });

    it('keeps requests that authentication refuses away from the budget of the method', async () => {
      expect(await app.statuses(5, '/shop/by-method')).toEqual([401, 401, 401, 401, 401]);
      expect(app.store.consumed).toEqual([]);
      expect(await app.statuses(4, '/shop/by-method', as('alice'))).toEqual([200, 200, 200, 429]);
      expect(await app.statuses(1, '/shop/by-method', as('bob'))).toEqual([429]);
    });

    it('gives each user that authentication finds a budget, and charges none for a refused request', async () => {
      expect(await app.statuses(5, '/shop/by-user')).toEqual([401, 401, 401, 401, 401]);
      expect(app.store.consumed).toEqual([]);
      expect(await app.statuses(4, '/shop/by-user', as('alice'))).toEqual([200, 200, 200, 429]);
      expect(await app.statuses(4, '/shop/by-user', as('bob'))).toEqual([200, 200, 200, 429]);
    });
  });

  it.each(['by-address', 'by-method', 'by-user'])('limits %s without any authentication', async (route) => {
    const app = await start(platform, shopGuarded('nowhere'));

    expect(await app.statuses(4, `/shop/${route}`)).toEqual([200, 200, 200, 429]);
  });
});
