import { describe, expect, it } from '@jest/globals';
import { All, Controller, Delete, Get, Head, Options, Patch, Post, Put } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Controller('cats')
class CatsController {
  @RateLimit({ limit: 1 })
  @Head('apart')
  head() {}

  @RateLimit({ limit: 1 })
  @Get('apart')
  apart() {}

  @RateLimit({ limit: 2 })
  @Get()
  get() {}

  @RateLimit({ limit: 1 })
  @Post()
  post() {}

  @RateLimit({ limit: 1 })
  @Put()
  put() {}

  @RateLimit({ limit: 1 })
  @Patch()
  patch() {}

  @RateLimit({ limit: 1 })
  @Delete()
  delete() {}

  @RateLimit({ limit: 1 })
  @Options()
  options() {}
}

@Controller('dogs')
class DogsController {
  @RateLimit({ limit: 3 })
  @All()
  all() {}
}

@Controller('birds')
class BirdsController {
  @RateLimit({ limit: 1 })
  @All()
  all() {}

  @RateLimit({ limit: 1 })
  @Get(':id')
  get() {}
}

const controllers = [CatsController, DogsController, BirdsController];

const statusesOf = async (app: LimitedApp, path: string, ...verbs: readonly string[]): Promise<readonly number[]> => {
  const statuses: number[] = [];
  for (const verb of verbs) statuses.push((await app.call(verb, path)).status);
  return statuses;
};

describe.each(PLATFORMS)('the verb of a request on %s', (platform) => {
  const start = useApps();

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is limited apart from the others', async (verb) => {
    const app = await start(platform, { controllers });

    expect(await statusesOf(app, '/cats', verb, verb, 'GET')).toEqual([verb === 'POST' ? 201 : 200, 429, 200]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set([`{method:${verb} /cats}`, '{method:GET /cats}']));
  });

  it('HEAD shares the budget of the GET handler that answers it', async () => {
    const app = await start(platform, { controllers });

    expect(await statusesOf(app, '/cats', 'HEAD', 'GET', 'HEAD', 'GET')).toEqual([200, 200, 429, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /cats}']));
  });

  it('HEAD is limited apart where it has a handler of its own before that of GET', async () => {
    const app = await start(platform, { controllers });

    expect(await statusesOf(app, '/cats/apart', 'HEAD', 'HEAD', 'GET', 'GET')).toEqual([200, 429, 200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:HEAD /cats/apart}', '{method:GET /cats/apart}']));
  });

  it('may be any for one budget, HEAD and OPTIONS too', async () => {
    const app = await start(platform, { controllers });

    expect(await statusesOf(app, '/dogs', 'HEAD', 'OPTIONS', 'DELETE', 'GET', 'OPTIONS')).toEqual([
      200, 200, 200, 429, 429,
    ]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:ALL /dogs}']));
  });

  it('charges nothing where the path has no handler for it', async () => {
    const app = await start(platform, { controllers, options: { rules: [{ limit: 1 }] } });

    expect(await statusesOf(app, '/birds/1', 'POST', 'PUT', 'DELETE')).toEqual([404, 404, 404]);
    expect(app.store.consumed).toEqual([]);
  });

  it('OPTIONS charges nothing where only the adapter answers it', async () => {
    const app = await start(platform, { controllers, options: { rules: [{ limit: 1 }] } });
    await statusesOf(app, '/birds/1', 'OPTIONS', 'OPTIONS');

    expect(app.store.consumed).toEqual([]);
    expect(await app.statuses(1, '/birds/1')).toEqual([200]);
  });
});
