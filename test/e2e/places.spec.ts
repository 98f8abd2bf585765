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

  /** Two of these calls are admitted. */
  const expectOneBudget = async (app: LimitedApp, ...calls: readonly (readonly [string, string])[]): Promise<void> => {
    const isAdmitted: boolean[] = [];
    for (const [method, path] of calls) {
      const { status } = await app.call(method, path);
      expect([200, 201, 429]).toContain(status);
      isAdmitted.push(status !== 429);
    }
    expect(isAdmitted).toEqual(calls.map((_, i) => i < 2));
  };

  it('is every path of one handler', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    await expectOneBudget(app, ['GET', '/orders/list'], ['GET', '/purchases/all'], ['GET', '/orders/all']);
  });

  it('is every verb of one handler', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    await expectOneBudget(app, ['GET', '/orders/anything'], ['PUT', '/orders/anything'], ['POST', '/orders/anything']);
  });

  it('is every value of a parameter in the path', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    await expectOneBudget(app, ['GET', '/orders/1/items/2'], ['GET', '/orders/3/items/4'], ['GET', '/orders/1/items/5']);
  });

  it('is every query', async () => {
    const app = await start(platform, { controllers: [OrdersController] });

    await expectOneBudget(app, ['GET', '/orders/list?x=1'], ['GET', '/orders/list?x=2'], ['GET', '/orders/list']);
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
    expect(app.store.chargedKeys).toContain('{method:GET /same [SameController in LeftModule]}');
    expect(app.store.chargedKeys).toContain('{method:GET /same [SameController in RightModule]}');
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
  });
});
