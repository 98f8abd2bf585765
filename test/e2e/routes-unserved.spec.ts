import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Post, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS, type Answer } from '../support/nest-app.ts';

@Controller('served')
class ServedController {
  @RateLimit({ limit: 1 }, { limit: 1, type: 'IP' })
  @Get(':id')
  get() {}

  @RateLimit({ limit: 1 })
  @Post()
  post() {}
}

@Controller('free')
class FreeController {
  @Get()
  get() {
    return 'free';
  }
}

interface Ending {
  end(text: string): void;
}

@Module({ controllers: [ServedController, FreeController] })
class ShopModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply((_request: unknown, response: Ending) => response.end('by middleware')).forRoutes('served/answered');
  }
}

/** One budget for the whole application beside those of the handlers. */
const everywhere = { rules: [{ limit: 1, type: 'IP' as const, name: 'everywhere' }] };

const fieldsOf = ({ headers }: Answer): readonly string[] =>
  [...headers.keys()].filter((name) => /rate-?limit|retry-after/i.test(name));

describe.each(PLATFORMS)('what no handler with rules serves on %s', (platform) => {
  const start = useApps();
  const imports = [ShopModule];

  it.each([
    ['an unknown path', 'GET', '/nowhere', 404],
    ['a path below a route', 'GET', '/served/1/2', 404],
    ['a verb that the path does not have', 'DELETE', '/served/1', 404],
    ['a path that cannot be decoded', 'GET', '/served/%E0%A4%A', 400],
  ])('%s is not limited and charges nothing', async (_, verb, path, expected) => {
    const app = await start(platform, { imports: (limits) => [limits, ...imports], options: everywhere });
    for (let i = 0; i < 3; i++) {
      const answer = await app.call(verb, path);
      expect(answer.status).toBe(expected);
      expect(fieldsOf(answer)).toEqual([]);
    }

    expect(app.store.consumed).toEqual([]);
    expect(await app.statuses(1, '/served/1')).toEqual([200]);
  });

  it('a body that cannot be parsed charges nothing, since it is parsed before all guards', async () => {
    const app = await start(platform, { imports: (limits) => [limits, ...imports], options: everywhere });
    const malformed = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":' };
    const answers = [await fetch(`${app.url}/served`, malformed), await fetch(`${app.url}/served`, malformed)];

    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(app.store.consumed).toEqual([]);
  });

  it('what middleware answers charges nothing', async () => {
    const app = await start(platform, { imports: (limits) => [limits, ...imports], options: everywhere });

    expect((await app.get('/served/answered')).text).toBe('by middleware');
    expect(await app.statuses(2, '/served/answered')).toEqual([200, 200]);
    expect(app.store.consumed).toEqual([]);
  });

  it('a controller without rules charges nothing and answers without header fields', async () => {
    const app = await start(platform, { imports: (limits) => [limits, ...imports] });
    for (let i = 0; i < 3; i++) {
      const answer = await app.get('/free');
      expect(answer).toMatchObject({ status: 200, text: 'free' });
      expect(fieldsOf(answer)).toEqual([]);
    }

    expect(app.store.consumed).toEqual([]);
  });

  it('a controller without rules of its own is limited by those of the application', async () => {
    const app = await start(platform, { imports: (limits) => [limits, ...imports], options: everywhere });

    expect(await app.statuses(2, '/free')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{ip:127.0.0.1}:application#everywhere']));
  });
});
