import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { MemoryStore, RATE_LIMIT_STORE, RateLimit, RateLimiter, RateLimitModule } from 'nestjs-floodgate';
import { connectionsDuring } from '../support/counting-server.ts';
import { PLATFORMS, startApp, type Platform, type TestApp } from '../support/nest-app.ts';

const DAY_MS = 86_400_000;

@Controller()
class DailyController {
  @RateLimit({ name: 'daily', window: '1d', limit: 1, type: 'IP' })
  @Get()
  get() {}
}

describe.each(PLATFORMS)('a test of an application on %s', (platform) => {
  let running: TestApp | undefined;
  afterEach(() => running?.close());
  const start = async (on: Platform, now?: () => number): Promise<TestApp> => {
    const options = now && { store: new MemoryStore({ now }) };
    @Module({ imports: [RateLimitModule.forRoot(options)], controllers: [DailyController] })
    class TestedModule {}
    return (running = await startApp(TestedModule, on));
  };
  const status = async ({ call }: TestApp): Promise<number> => (await call('GET', '/')).status;

  it('gives the store its time instead of waiting', async () => {
    let now = 0;
    const app = await start(platform, () => now);
    expect([await status(app), await status(app)]).toEqual([200, 429]);
    now = DAY_MS - 1;
    expect(await status(app)).toBe(429);
    now = DAY_MS;
    expect([await status(app), await status(app)]).toEqual([200, 429]);
  });

  it('replaces the store of a module that would connect to Redis, so that none is contacted', async () => {
    let now = 0;
    const connections = await connectionsDuring(async (redis) => {
      const testing = await Test.createTestingModule({
        imports: [RateLimitModule.forRoot({ redis })],
        controllers: [DailyController],
      })
        .overrideProvider(RATE_LIMIT_STORE)
        .useValue(new MemoryStore({ now: () => now }))
        .compile();
      const limiter = testing.get(RateLimiter);
      const allowed = async () => (await limiter.consume('daily', '192.0.2.1')).allowed;
      expect([await allowed(), await allowed()]).toEqual([true, false]);
      now = DAY_MS;
      expect(await allowed()).toBe(true);
      await testing.close();
    });
    expect(connections).toBe(0);
  });

  it('makes a budget whole again by resetting it', async () => {
    const app = await start(platform);
    expect([await status(app), await status(app)]).toEqual([200, 429]);
    await app.app.get(RateLimiter).reset('daily', '127.0.0.1');
    expect([await status(app), await status(app)]).toEqual([200, 429]);
  });
});
