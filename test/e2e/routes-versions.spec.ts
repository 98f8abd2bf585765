import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
  type INestApplication,
  type VersioningOptions,
} from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS, type CallOptions } from '../support/nest-app.ts';

@Controller({ path: 'cats', version: '1' })
class FirstCatsController {
  @RateLimit({ limit: 1 })
  @Get()
  list() {}
}

@Controller({ path: 'cats', version: ['2', '3'] })
class LaterCatsController {
  @RateLimit({ limit: 1 })
  @Get()
  list() {}

  @RateLimit({ limit: 1 })
  @Version('4')
  @Get()
  newList() {}
}

@RateLimit({ limit: 1 })
@Controller({ path: 'dogs', version: '2' })
class DogsController {
  @Get('1')
  first() {}

  @Version('5')
  @Get('2')
  second() {}
}

@Controller({ path: 'birds', version: VERSION_NEUTRAL })
class BirdsController {
  @RateLimit({ limit: 1 })
  @Get()
  list() {}
}

const controllers = [FirstCatsController, LaterCatsController, DogsController, BirdsController];

interface Versioning {
  readonly options: VersioningOptions;
  readonly at: (version: string, path: string) => readonly [path: string, options?: CallOptions];
}

interface Headed {
  readonly headers: Record<string, string | undefined>;
}

const VERSIONINGS: Record<string, Versioning> = {
  'the URI': { options: { type: VersioningType.URI }, at: (version, path) => [`/v${version}${path}`] },
  'a header': {
    options: { type: VersioningType.HEADER, header: 'x-version' },
    at: (version, path) => [path, { headers: { 'x-version': version } }],
  },
  'the media type': {
    options: { type: VersioningType.MEDIA_TYPE, key: 'v=' },
    at: (version, path) => [path, { headers: { accept: `application/json;v=${version}` } }],
  },
  'a function': {
    options: { type: VersioningType.CUSTOM, extractor: (request) => (request as Headed).headers['x-any'] ?? '' },
    at: (version, path) => [path, { headers: { 'x-any': version } }],
  },
};

describe.each(PLATFORMS)('a version on %s', (platform) => {
  const start = useApps();

  describe.each(Object.keys(VERSIONINGS))('in %s', (name) => {
    const { options, at } = VERSIONINGS[name]!;
    const configure = (app: INestApplication): void => void app.enableVersioning(options);
    const status = async (app: LimitedApp, version: string, path: string) =>
      (await app.get(...at(version, path))).status;

    it('of a class tells its handlers from those of another, and the versions of one share a budget', async () => {
      const app = await start(platform, { controllers, configure });

      expect(await status(app, '1', '/cats')).toBe(200);
      expect(await status(app, '1', '/cats')).toBe(429);
      expect(await status(app, '2', '/cats')).toBe(200);
      expect(await status(app, '3', '/cats')).toBe(429);
      expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /cats v1}', '{method:GET /cats v2}']));
    });

    it('of a method stands in place of that of its class', async () => {
      const app = await start(platform, { controllers, configure });

      expect(await status(app, '4', '/cats')).toBe(200);
      expect(await status(app, '4', '/cats')).toBe(429);
      expect(await status(app, '2', '/cats')).toBe(200);
      expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /cats v4}', '{method:GET /cats v2}']));
    });

    it('of a method leaves the budget of its class one', async () => {
      const app = await start(platform, { controllers, configure });

      expect(await status(app, '2', '/dogs/1')).toBe(200);
      expect(await status(app, '5', '/dogs/2')).toBe(429);
      expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:/dogs/* v2}']));
    });

    it('that no handler has charges nothing', async () => {
      const app = await start(platform, { controllers, configure, options: { rules: [{ limit: 1 }] } });

      expect(await status(app, '9', '/cats')).toBe(404);
      expect(app.store.consumed).toEqual([]);
    });
  });

  it('is not named for a handler that serves every version', async () => {
    const configure = (app: INestApplication): void => void app.enableVersioning(VERSIONINGS['a header']!.options);
    const app = await start(platform, { controllers, configure });

    expect(await app.statuses(1, '/birds', { headers: { 'x-version': '1' } })).toEqual([200]);
    expect(await app.statuses(1, '/birds')).toEqual([429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:GET /birds}']));
  });
});
