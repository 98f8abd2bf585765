import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Post, type Type } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS, type Platform } from '../support/nest-app.ts';

/** How each adapter writes a wildcard, and one that may match nothing. */
const WILDCARDS: Record<Platform, readonly [some: string, any: string]> = {
  express: ['*splat', '{*splat}'],
  fastify: ['*', '*'],
};

/** Another spelling of `/files/tree/a` that each adapter takes for the same. */
const SPELLINGS: Record<Platform, string> = { express: '/FILES/Tree/a/', fastify: '/files/%74ree/a' };

function controllersOn(platform: Platform): readonly Type[] {
  const [some, any] = WILDCARDS[platform];

  @Controller(['files', 'documents'])
  class FilesController {
    @RateLimit({ limit: 2 })
    @Get(`tree/${some}`)
    tree() {}

    @RateLimit({ limit: 2 })
    @Get(`any/${any}`)
    any() {}

    @RateLimit({ limit: 2 })
    @Get(['', 'index'])
    index() {}

    @RateLimit({ limit: 2 })
    @Post('/slashes/')
    slashes() {}
  }

  @RateLimit({ limit: 3 })
  @Controller(['left', 'right'])
  class SidesController {
    @Get()
    get() {}
  }

  return [FilesController, SidesController];
}

function catchAllOn(platform: Platform): Type {
  @Controller()
  class CatchAllController {
    @RateLimit({ limit: 2 })
    @Get(WILDCARDS[platform][0])
    rest() {}
  }
  return CatchAllController;
}

const statusesOf = async (app: LimitedApp, ...paths: readonly string[]): Promise<readonly number[]> => {
  const statuses: number[] = [];
  for (const path of paths) statuses.push((await app.get(path)).status);
  return statuses;
};

describe.each(PLATFORMS)('the path of a route on %s', (platform) => {
  const start = useApps();
  const controllers = controllersOn(platform);
  const keyEnd = { express: ['*splat', '%7B*splat%7D'], fastify: ['*', '*'] }[platform];

  it.each([
    [
      'with a wildcard',
      ['/files/tree/a', '/files/tree/b/c', '/documents/tree/d'],
      `{method:GET /files/tree/${keyEnd[0]}}`,
    ],
    [
      'with a wildcard that may match nothing',
      ['/files/any/', '/files/any/b/c', '/documents/any/d'],
      `{method:GET /files/any/${keyEnd[1]}}`,
    ],
    ['that is empty, beside another', ['/files', '/files/index', '/documents'], '{method:GET /files}'],
  ])('%s has one budget for all that it matches', async (_, paths, key) => {
    const app = await start(platform, { controllers });

    expect(await statusesOf(app, ...paths)).toEqual([200, 200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set([key]));
  });

  it('is limited alike under every path of its controller', async () => {
    const app = await start(platform, { controllers });

    expect(await statusesOf(app, '/left', '/right', '/left', '/right')).toEqual([200, 200, 200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:/left/*}']));
  });

  it('is named without the slashes around it', async () => {
    const app = await start(platform, { controllers });

    expect((await app.post('/files/slashes')).status).toBe(201);
    expect(app.store.chargedKeys).toEqual(['{method:POST /files/slashes}']);
  });

  it('has one budget however a client spells it', async () => {
    const app = await start(platform, { controllers });
    const spelled = ['/files/tree/a?b=c', '/files/tree/%61%2F..%2f', SPELLINGS[platform], '/files/tree/a#d'];

    expect(await statusesOf(app, ...spelled)).toEqual([200, 200, 429, 429]);
  });

  it('may be everything that no other handler has, which is limited then', async () => {
    const app = await start(platform, { controllers: [...controllers, catchAllOn(platform)] });

    expect(await statusesOf(app, '/left', '/nowhere', '/files/nowhere', '/no/where')).toEqual([200, 200, 200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:/left/*}', `{method:GET /${keyEnd[0]}}`]));
  });
});
