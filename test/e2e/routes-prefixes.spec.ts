import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, RequestMethod } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { RateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@RateLimit({ limit: 9, window: '1m' })
@Controller('cats')
class CatsController {
  @RateLimit({ limit: 1 })
  @Get()
  list() {}

  @RateLimit({ limit: 1 })
  @Get('health')
  health() {}
}

@Module({ controllers: [CatsController] })
class CatsModule {}

const LIST_KEYS = ['{method:/cats/*}', '{method:GET /cats}'];
const HEALTH_KEYS = ['{method:/cats/*}', '{method:GET /cats/health}'];

describe.each(PLATFORMS)('under a prefix on %s', (platform) => {
  const start = useApps();

  it('the rules of a method and of its controller apply, and are named without it', async () => {
    const app = await start(platform, {
      controllers: [CatsController],
      configure: (nest) => nest.setGlobalPrefix('api/v1'),
    });

    expect(await app.statuses(2, '/api/v1/cats')).toEqual([200, 429]);
    expect(app.store.chargedKeys.slice(0, 2).sort()).toEqual(LIST_KEYS);
  });

  it.each([
    ['by path', 'cats/health'],
    ['by path and verb', { path: 'cats/health', method: RequestMethod.GET }],
  ])('a route that is excluded %s is limited where it is', async (_, excluded) => {
    const app = await start(platform, {
      controllers: [CatsController],
      configure: (nest) => nest.setGlobalPrefix('api', { exclude: [excluded] }),
    });

    expect(await app.statuses(2, '/cats/health')).toEqual([200, 429]);
    expect(app.store.chargedKeys.slice(0, 2).sort()).toEqual(HEALTH_KEYS);
    expect(await app.statuses(2, '/api/cats')).toEqual([200, 429]);
  });

  it('nothing is charged for the path without it', async () => {
    const app = await start(platform, {
      controllers: [CatsController],
      options: { rules: [{ limit: 1 }] },
      configure: (nest) => nest.setGlobalPrefix('api'),
    });

    expect(await app.statuses(3, '/cats')).toEqual([404, 404, 404]);
    expect(app.store.consumed).toEqual([]);
  });

  it('that a RouterModule gives, the rules apply and are named without it', async () => {
    const mounted = RouterModule.register([{ path: 'zoo', children: [{ path: ':house', module: CatsModule }] }]);
    const app = await start(platform, { imports: (limits) => [mounted, CatsModule, limits] });

    expect(await app.statuses(1, '/zoo/1/cats')).toEqual([200]);
    expect(await app.statuses(1, '/zoo/2/cats')).toEqual([429]);
    expect(app.store.chargedKeys.slice(0, 2).sort()).toEqual(LIST_KEYS);
  });

  it('and one that a RouterModule gives, the rules apply and are named without both', async () => {
    const mounted = RouterModule.register([{ path: 'zoo', module: CatsModule }]);
    const app = await start(platform, {
      imports: (limits) => [limits, mounted, CatsModule],
      configure: (nest) => nest.setGlobalPrefix('api'),
    });

    expect(await app.statuses(2, '/api/zoo/cats')).toEqual([200, 429]);
    expect(app.store.chargedKeys.slice(0, 2).sort()).toEqual(LIST_KEYS);
  });

  it('a controller that two modules mount has one budget for both', async () => {
    @RateLimit({ limit: 2 })
    @Controller('dogs')
    class DogsController {
      @Get('1')
      first() {}

      @Get('2')
      second() {}
    }
    @Module({ controllers: [DogsController] })
    class LeftModule {}
    @Module({ controllers: [DogsController] })
    class RightModule {}
    const mounted = RouterModule.register([
      { path: 'left', module: LeftModule },
      { path: 'right', module: RightModule },
    ]);
    const app = await start(platform, { imports: (limits) => [limits, mounted, LeftModule, RightModule] });

    expect(await app.statuses(1, '/left/dogs/1')).toEqual([200]);
    expect(await app.statuses(2, '/right/dogs/2')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:/dogs/*}']));
  });

  it('controllers of one path that modules mount apart have a budget each, told apart by their modules', async () => {
    const dogs = (): new () => object => {
      @RateLimit({ limit: 1 })
      @Controller('dogs')
      class DogsController {
        @Get()
        get() {}
      }
      return DogsController;
    };
    @Module({ controllers: [dogs()] })
    class LeftModule {}
    @Module({ controllers: [dogs()] })
    class RightModule {}
    const mounted = RouterModule.register([
      { path: 'left', module: LeftModule },
      { path: 'right', module: RightModule },
    ]);
    const app = await start(platform, { imports: (limits) => [limits, mounted, LeftModule, RightModule] });

    expect(await app.statuses(2, '/left/dogs')).toEqual([200, 429]);
    expect(await app.statuses(2, '/right/dogs')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(
      new Set(['{method:/dogs/* [DogsController in LeftModule]}', '{method:/dogs/* [DogsController in RightModule]}']),
    );
  });
});
