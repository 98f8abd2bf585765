import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Query, UseGuards, UseInterceptors } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { as, AuthenticationGuard, from, requestOf } from '../support/authentication.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS, type CallOptions } from '../support/nest-app.ts';

const DEFAULT_MESSAGE = 'Too many requests, please try again later.';
const secretKey = () => 'tenant-0815';
const failing = (): string => {
  throw new Error('no words');
};

@UseGuards(AuthenticationGuard)
@Controller()
class RefusingController {
  @RateLimit({ limit: 1 })
  @Get('plain')
  plain() {}

  @RateLimit({ limit: 1, window: '1m', name: 'front-door', message: '秒杀活动太火爆，请稍后再试' })
  @Get('named')
  named() {}

  @RateLimit({ limit: 2, cost: () => 3 })
  @Get('too-costly')
  tooCostly() {}

  @RateLimit({
    limit: 1,
    message: ({ retryAfterMs }, context) => `${requestOf(context).headers['x-user']}, wait ${retryAfterMs} ms`,
  })
  @Get('told')
  told() {}

  @RateLimit({ limit: 1, message: failing })
  @Get('failing-message')
  failingMessage() {}

  @RateLimit({ limit: 1, message: () => undefined as unknown as string })
  @Get('no-message')
  noMessage() {}

  @RateLimit({ limit: 1, message: (async () => failing()) as unknown as () => string })
  @Get('late-message')
  lateMessage() {}

  @RateLimit({ limit: 2, message: 'the short one' }, { limit: 1, window: '1m', message: 'the long one' })
  @Get('two')
  two() {}

  @RateLimit({ limit: 1, type: 'IP' })
  @Get('by-address')
  byAddress() {}

  @RateLimit({ limit: 1, type: 'USER' })
  @Get('by-user')
  byUser() {}

  @RateLimit({ limit: 1, key: secretKey, bucket: 'tenants' })
  @Get('by-key')
  byKey() {}
}

const controllers = [RefusingController];
const alice = as('alice-4711');

/** The answer to the first call that is refused. */
async function refusalOf(app: LimitedApp, path: string, options: CallOptions = alice) {
  for (;;) {
    const answer = await app.get(path, options);
    if (answer.status === 429) return answer;
    expect(answer.status).toBe(200);
  }
}

describe.each(PLATFORMS)('a refusal on %s', (platform) => {
  const start = useApps();

  it('says what was exceeded and when to come back, without any filter', async () => {
    const app = await start(platform, { controllers });
    const answer = await refusalOf(app, '/plain');

    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: DEFAULT_MESSAGE,
      rule: '1-per-10s',
      limit: 1,
      retryAfter: 10,
    });
  });

  it('names the rule and tells its message', async () => {
    const app = await start(platform, { controllers });

    expect((await refusalOf(app, '/named')).json).toMatchObject({
      message: '秒杀活动太火爆，请稍后再试',
      rule: 'front-door',
      retryAfter: 60,
    });
  });

  it('tells the message of the module where the rule has none', async () => {
    const app = await start(platform, { controllers, options: { defaults: { message: 'Slow down.' } } });

    expect((await refusalOf(app, '/plain')).json).toMatchObject({ message: 'Slow down.' });
    expect((await refusalOf(app, '/named')).json).toMatchObject({ message: '秒杀活动太火爆，请稍后再试' });
  });

  it('tells of the rule with the longest wait when several refuse', async () => {
    const app = await start(platform, { controllers });

    expect((await refusalOf(app, '/two')).json).toMatchObject({ message: 'the long one', retryAfter: 60, limit: 1 });
  });

  it('promises no time when no waiting helps', async () => {
    const app = await start(platform, { controllers });
    const answer = await refusalOf(app, '/too-costly');

    expect(answer.json).not.toHaveProperty('retryAfter');
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('tells what a message function makes of the decision and the request', async () => {
    const app = await start(platform, { controllers });
    await app.get('/told', alice);
    app.clock.advance(3_250);

    expect((await app.get('/told', alice)).json).toMatchObject({ message: 'alice-4711, wait 6750 ms' });
  });

  it.each([
    ['fails', '/failing-message'],
    ['gives no text', '/no-message'],
    ['rejects', '/late-message'],
  ])('tells the default when the message function %s, and is still a refusal', async (_, path) => {
    const logger = new LogLines();
    const app = await start(platform, { controllers, logger });

    expect((await refusalOf(app, path)).json).toMatchObject({ statusCode: 429, message: DEFAULT_MESSAGE });
    await app.statuses(3, path, alice);
    expect(logger.errors).toEqual([expect.stringMatching(/RefusingController\.\w+.*message function/)]);
  });

  it.each([
    ['/by-address', '203.0.113.77'],
    ['/by-user', 'alice-4711'],
    ['/by-key', 'tenant-0815'],
  ])('on %s says nowhere who was refused', async (path, identity) => {
    const app = await start(platform, { controllers, trustProxy: true });
    const { text, headers } = await refusalOf(app, path, from('203.0.113.77', alice));

    expect(app.store.chargedKeys[0]).toContain(identity);
    expect(text + JSON.stringify([...headers])).not.toContain(identity);
  });

  it('costs nothing, however often it is repeated', async () => {
    const app = await start(platform, { controllers });
    await app.statuses(1, '/plain', alice);
    for (let i = 0; i < 9; i++) {
      app.clock.advance(1_000);
      expect(await app.statuses(1, '/plain', alice)).toEqual([429]);
    }
    app.clock.advance(1_000);

    expect(await app.statuses(1, '/plain', alice)).toEqual([200]);
  });

  it('comes before interceptors, pipes and the handler', async () => {
    const steps: string[] = [];
    const step = (name: string) => (value?: unknown) => (steps.push(name), value);
    @UseInterceptors({ intercept: (_, next) => (steps.push('interceptor'), next.handle()) })
    @Controller()
    class CountingController {
      @RateLimit({ limit: 1 })
      @Get('counting')
      get(@Query('q', { transform: step('pipe') }) _q: unknown) {
        steps.push('handler');
      }
    }
    const app = await start(platform, { controllers: [CountingController] });

    expect(await app.statuses(3, '/counting')).toEqual([200, 429, 429]);
    expect(steps).toEqual(['interceptor', 'pipe', 'handler']);
  });
});
