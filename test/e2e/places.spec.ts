import { describe, expect, it } from '@jest/globals';
import {
  All,
  Controller,
  Get,
  Module,
  Post,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
  type INestApplication,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { RateLimit } from 'nestjs-floodgate';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Controller(['orders', 'purchases'])
class OrdersController {
  @RateLimit({ limit: 2 })
  @Get(['list', 'all'])
  list() {}

  @RateLimit({ limit: 2 })
  @All('anything')
  anything() {}

  @RateLimit({ limit: 2 })
  @Get('same')
  read() {}

  @RateLimit({ limit: 2 })
  @Post('same')
  write() {}

  @RateLimit({ limit: 2 })
  @Get(':id/items/:item')
  item() {}
}

@Controller('versioned')
class VersionedController {
  @RateLimit({ limit: 2 })
  @Version(['1', '2'])
  @Get()
  old() {}

  @RateLimit({ limit: 2 })
  @Version('3')
  @Get()
  current() {}

  @RateLimit({ limit: 2 })
  @Version(VERSION_NEUTRAL)
  @Get()
  neutral() {}
}

const configure = (app: INestApplication): void => {
  app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' });
};
const version = (value: string) => ({ headers: { 'x-version': value } });

/** Two classes of one name, with one method each of one name. */
function sameNamed(path: string) {
  @Controller(path)
  class SameController {
    @RateLimit({ limit: 1 })
    @Get()
    get() {}
  }
  return SameController;
}

describe.each(PLATFORMS)('what shares a budget on %s', (platform) => {
  const start = useApps();

  const areAdmitted = async (app: LimitedApp, ...calls: readonly (readonly [string, string])[]) => {
    const admitted: boolean[] = [];
    for (const [method, path] of calls) {
      const { status } = await app.call(method, path);
      expect([200, 201, 429]).toContain(status);
      admitted.push(status !== 429);
    }
    return admitted;
  };
  /** Of three calls on a budget of two. */
  const ONE_BUDGET = [true, true, false];

  it('is every path of one handler', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    expect(await areAdmitted(app, ['GET', '/orders/list'], ['GET', '/purchases/all'], ['GET', '/orders/all'])).toEqual(
      ONE_BUDGET,
    );
  });

  it('is every verb of one handler', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    expect(
      await areAdmitted(app, ['GET', '/orders/anything'], ['PUT', '/orders/anything'], ['POST', '/orders/anything']),
    ).toEqual(ONE_BUDGET);
  });

  it('is every value of a parameter in the path', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    expect(
      await areAdmitted(app, ['GET', '/orders/1/items/2'], ['GET', '/orders/3/items/4'], ['GET', '/orders/1/items/5']),
    ).toEqual(ONE_BUDGET);
  });

  it('is every query', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    expect(
      await areAdmitted(app, ['GET', '/orders/list?x=1'], ['GET', '/orders/list?x=2'], ['GET', '/orders/list']),
    ).toEqual(ONE_BUDGET);
  });

  it('is named as it was declared, whatever prefix the application has', async () => {
    const app = await start(platform, {
      controllers: [OrdersController],
      configure: (nest) => nest.setGlobalPrefix('api'),
    });

    expect(await app.statuses(3, '/api/purchases/all')).toEqual([200, 200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /orders/list}']));
  });

  it('is every version of one handler, and not the version of another', async () => {
    const app = await start(platform, { controllers: [VersionedController], configure });

    expect(await app.statuses(1, '/versioned', version('1'))).toEqual([200]);
    expect(await app.statuses(2, '/versioned', version('2'))).toEqual([200, 429]);
    expect(await app.statuses(3, '/versioned', version('3'))).toEqual([200, 200, 429]);
    expect(await app.statuses(3, '/versioned')).toEqual([200, 200, 429]);
  });

  it('is not two handlers of one path with different verbs', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    expect(await app.statuses(3, '/orders/same')).toEqual([200, 200, 429]);
    expect((await app.post('/orders/same')).status).toBe(201);
  });

  it('is not two classes and methods of one name on different paths', async () => {
    const app = await start(platform, { controllers: [sameNamed('here'), sameNamed('there')] });

    expect(await app.statuses(2, '/here')).toEqual([200, 429]);
    expect(await app.statuses(2, '/there')).toEqual([200, 429]);
  });

  it('is not two controllers of one declared path that are mounted at different ones', async () => {
    @Module({ controllers: [sameNamed('same')] })
    class LeftModule {}
    @Module({ controllers: [sameNamed('same')] })
    class RightModule {}
    const mounted = RouterModule.register([
      { path: 'left', module: LeftModule },
      { path: 'right', module: RightModule },
    ]);
    const app = await start(platform, { imports: (limits) => [limits, mounted, LeftModule, RightModule] });

    expect(await app.statuses(2, '/left/same')).toEqual([200, 429]);
    expect(await app.statuses(2, '/right/same')).toEqual([200, 429]);
    expect(app.store.chargedKeys).toContain('{method:GET /same [SameController.get in LeftModule]}');
    expect(app.store.chargedKeys).toContain('{method:GET /same [SameController.get in RightModule]}');
  });

  it('is one controller in two modules', async () => {
    const SharedController = sameNamed('shared');
    @Module({ controllers: [SharedController] })
    class LeftModule {}
    @Module({ controllers: [SharedController] })
    class RightModule {}
    const mounted = RouterModule.register([{ path: 'right', module: RightModule }]);
    const app = await start(platform, { imports: (limits) => [limits, mounted, LeftModule, RightModule] });

    expect(await app.statuses(1, '/shared')).toEqual([200]);
    expect(await app.statuses(1, '/right/shared')).toEqual([429]);
    expect(app.store.chargedKeys).toEqual(['{method:GET /shared}', '{method:GET /shared}']);
  });
});
