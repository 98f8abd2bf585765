import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import {
  RATE_LIMIT_HEADERS,
  RateLimit,
  RateLimitExceptionFilter,
  type RateLimitModuleOptions,
} from '../../src/index.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS, type Platform } from '../support/nest-app.ts';

@Controller()
class FormatsController {
  @RateLimit({ limit: 1, name: 'burst', type: 'IP' }, { limit: 5, window: 60, name: 'sustained' })
  @Get('two')
  two(): string {
    return 'ok';
  }
}

const startApp = useApps();
const start = (
  platform: Platform,
  options: RateLimitModuleOptions,
  providers: LimitedAppProviders = [],
): Promise<LimitedApp> => startApp(platform, { controllers: [FormatsController], options, providers });
type LimitedAppProviders = NonNullable<Parameters<typeof startApp>[1]['providers']>;

interface FastifyHooks {
  addHook(
    name: 'onRequest',
    hook: (request: unknown, reply: { header(name: string, value: string): void }) => Promise<void>,
  ): void;
}

describe.each(PLATFORMS)('answers, on %s', (platform) => {
  it('carry the fields of the draft, of both moments, where it is chosen', async () => {
    const app = await start(platform, { headers: 'draft-11' });
    const { headers } = await app.get('/two');
    expect(headers.get('ratelimit-policy')).toBe('"burst";q=1;w=10, "sustained";q=5;w=60');
    expect(headers.get('ratelimit')).toBe('"burst";r=0;t=10, "sustained";r=4;t=60');
    expect(headers.get('x-ratelimit-limit')).toBeNull();
  });

  it('carry both formats where both are', async () => {
    const app = await start(platform, { headers: ['legacy', 'draft-11'] });
    const { headers } = await app.get('/two');
    expect(headers.get('ratelimit')).toContain('"burst";r=0');
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
  });

  it('carry a hash of whose budget it is only where that is asked for, and nothing of the identity', async () => {
    const app = await start(platform, { headers: 'draft-11', partitionKey: true });
    const [first, second] = [await app.get('/two'), await app.get('/two')];
    const keys = [first, second].map(
      ({ headers }) => /"burst";[^,]*pk=:([A-Za-z0-9+/]{16}):/.exec(headers.get('ratelimit')!)?.[1],
    );
    expect(keys[0]).toBeDefined();
    expect(keys[1]).toBe(keys[0]);
    expect(Buffer.from(keys[0]!, 'base64').toString('latin1')).not.toContain('127.0.0.1');
  });

  it('of refusals stay out of caches, unless the application says something of caching', async () => {
    const app = await start(platform, {});
    const admitted = await app.get('/two');
    expect(admitted.headers.get('cache-control')).toBeNull();
    expect((await app.get('/two')).headers.get('cache-control')).toBe('no-store');
    const said = await startApp(platform, {
      controllers: [FormatsController],
      configure: (nest) =>
        void (platform === 'express'
          ? nest.use((_: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
              response.setHeader('Cache-Control', 'private');
              next();
            })
          : (nest.getHttpAdapter().getInstance() as FastifyHooks).addHook('onRequest', async (_, reply) => {
              reply.header('Cache-Control', 'private');
            })),
    });
    await said.get('/two');
    expect((await said.get('/two')).headers.get('cache-control')).toBe('private');
  });

  it('carry no field that the list for browsers lacks', async () => {
    const app = await start(platform, { headers: ['legacy', 'draft-11'] });
    await app.get('/two');
    const { headers } = await app.get('/two');
    const listed = RATE_LIMIT_HEADERS.map((name) => name.toLowerCase());
    const carried = [...headers.keys()].filter((name) => /ratelimit|retry/.test(name));
    expect(carried.sort()).toEqual([...listed].sort());
  });

  it('are problem details where that is asked for', async () => {
    const app = await start(platform, { problemDetails: true }, [
      { provide: APP_FILTER, useClass: RateLimitExceptionFilter },
    ]);
    await app.get('/two');
    const refused = await app.get('/two');
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(refused.json).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too Many Requests',
      status: 429,
      detail: 'Too many requests, please try again later.',
      'violated-policies': ['burst'],
      retryAfter: 10,
    });
  });
});
