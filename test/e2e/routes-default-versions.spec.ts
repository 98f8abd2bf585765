import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Version, VERSION_NEUTRAL, VersioningType, type INestApplication } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Controller('cats')
class CatsController {
  @RateLimit({ limit: 1 })
  @Get()
  list() {}

  @RateLimit({ limit: 1 })
  @Version('2')
  @Get()
  newList() {}

  @RateLimit({ limit: 1 })
  @Version([VERSION_NEUTRAL, '3'])
  @Get('any')
  any() {}
}

const versioned =
  (defaultVersion?: string | string[] | typeof VERSION_NEUTRAL) =>
  (app: INestApplication): void =>
    void app.enableVersioning({ type: VersioningType.URI, ...(defaultVersion !== undefined && { defaultVersion }) });

describe.each(PLATFORMS)('the default version on %s', (platform) => {
  const start = useApps();

  it('is no part of the place, like all that only the running application knows', async () => {
    const app = await start(platform, { controllers: [CatsController], configure: versioned('1') });

    expect(await app.statuses(2, '/v1/cats')).toEqual([200, 429]);
    expect(await app.statuses(2, '/v2/cats')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /cats}', '{method:GET /cats v2}']));
  });

  it('may be several, which share one budget', async () => {
    const app = await start(platform, { controllers: [CatsController], configure: versioned(['1', '7']) });

    expect(await app.statuses(1, '/v1/cats')).toEqual([200]);
    expect(await app.statuses(1, '/v7/cats')).toEqual([429]);
  });

  it('may be none at all', async () => {
    const app = await start(platform, { controllers: [CatsController], configure: versioned(VERSION_NEUTRAL) });

    expect(await app.statuses(2, '/cats')).toEqual([200, 429]);
    expect(await app.statuses(2, '/v2/cats')).toEqual([200, 429]);
  });

  it('is not needed where a handler names no version beside others', async () => {
    const app = await start(platform, { controllers: [CatsController], configure: versioned() });

    expect(await app.statuses(1, '/cats/any')).toEqual([200]);
    expect(await app.statuses(1, '/v3/cats/any')).toEqual([429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /cats/any}']));
  });

  it('leaves handlers of one place apart: one that has it, and one that serves every other', async () => {
    @Controller({ path: 'cats', version: VERSION_NEUTRAL })
    class OtherCatsController {
      @RateLimit({ limit: 1 })
      @Get()
      list() {}
    }
    const app = await start(platform, {
      controllers: [CatsController, OtherCatsController],
      configure: versioned('1'),
    });

    expect(await app.statuses(2, '/v1/cats')).toEqual([200, 429]);
    expect(await app.statuses(2, '/cats')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(
      new Set([
        '{method:GET /cats [CatsController.list in Root]}',
        '{method:GET /cats [OtherCatsController.list in Root]}',
      ]),
    );
  });

  it('leaves the place as it was declared where versioning is off', async () => {
    @Controller({ path: 'dogs', version: '1' })
    class DogsController {
      @RateLimit({ limit: 1 })
      @Get()
      list() {}
    }
    const app = await start(platform, { controllers: [DogsController] });

    expect(await app.statuses(2, '/dogs')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /dogs v1}']));
  });
});
