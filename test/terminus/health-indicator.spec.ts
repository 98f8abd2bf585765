import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Inject } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { RateLimit, RATE_LIMIT_STORE, RateLimiter, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { RateLimitHealthIndicator } from 'nestjs-floodgate/terminus';
import { Test } from '@nestjs/testing';
import { BrokenStore } from '../support/broken-store.ts';
import { FailingStore } from '../support/failing-store.ts';
import { rootModule, useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Controller()
class HealthController {
  constructor(
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @Inject(RateLimitHealthIndicator) private readonly limits: RateLimitHealthIndicator,
  ) {}

  @Get('health')
  @HealthCheck()
  check() {
    return this.health.check([() => this.limits.isHealthy('limits')]);
  }

  @RateLimit({ window: '1m', limit: 2 })
  @Get('limited')
  limited() {}
}

const parts = {
  controllers: [HealthController],
  providers: [RateLimitHealthIndicator],
  imports: (limits: ReturnType<typeof rootModule>) => [TerminusModule.forRoot({ logger: false }), limits],
};

describe.each(PLATFORMS)('the health indicator on %s', (platform) => {
  const start = useApps();

  /** Milliseconds that the clock of the process is ahead. */
  let aheadMs: number;
  beforeEach(() => {
    aheadMs = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const checked = async (options: RateLimitModuleOptions = {}) => {
    const store = new FailingStore();
    const app = await start(platform, { ...parts, options: { store, ...options } });
    const check = async () => {
      const { status, json } = await app.get('/health');
      return { status, limits: (json as { details: { limits: unknown } }).details.limits };
    };
    return { ...app, store, check };
  };

  it('is up with the circuit and the latency while the store decides', async () => {
    const { check } = await checked();

    expect(await check()).toEqual({
      status: 200,
      limits: { status: 'up', circuit: 'closed', latencyMs: expect.any(Number) },
    });
  });

  it('is down with the kind and the message of the failure while the store cannot decide', async () => {
    const { check, store } = await checked();
    store.failure = 'loading';

    expect(await check()).toEqual({
      status: 503,
      limits: { status: 'down', circuit: 'closed', kind: 'loading', message: 'told to fail: loading' },
    });
  });

  it('keeps the reason when the store is not asked any more', async () => {
    const { check, store, statuses } = await checked();
    store.failure = 'loading';
    // Failures of one moment count as one.
    for (let i = 0; i < 10; i++, aheadMs += 10) await statuses(1, '/limited');

    expect(await check()).toMatchObject({ status: 503, limits: { circuit: 'open', kind: 'loading' } });
  });

  it('finds out by itself that the store decides again, though no requests come', async () => {
    const { check, store } = await checked();
    store.failure = 'loading';
    for (let i = 0; i < 10; i++, aheadMs += 10) await check();
    store.failure = undefined;
    aheadMs += 1_000;

    expect(await check()).toMatchObject({ status: 200, limits: { status: 'up', circuit: 'closed' } });
  });

  it('takes from no budget of the application, whatever its defaults', async () => {
    const { check, statuses } = await checked({ defaults: { limit: 1, cost: () => 1, onStoreError: 'deny' } });
    for (let i = 0; i < 3; i++) expect((await check()).status).toBe(200);

    expect(await statuses(3, '/limited')).toEqual([200, 200, 429]);
  });

  it('tells no secrets of a failure that is not known', async () => {
    const { check, store } = await checked();
    store.failure = new Error('no route to redis://:secret@host for rl:{ip:203.0.113.7}');

    expect(await check()).toEqual({
      status: 503,
      limits: { status: 'down', circuit: 'closed', kind: 'unknown', message: 'the store cannot decide' },
    });
  });

  it('is up where nothing is limited', async () => {
    const { check, store } = await checked({ enabled: false });
    store.failure = 'loading';

    expect(await check()).toEqual({ status: 200, limits: { status: 'up', circuit: 'closed' } });
  });
});

describe('the health indicator of an application', () => {
  it('is up and knows no latency where limits hold for one process', async () => {
    const module = await Test.createTestingModule({ imports: [rootModule(parts)] }).compile();

    expect(await module.get(RateLimitHealthIndicator).isHealthy('limits')).toEqual({
      limits: { status: 'up', circuit: 'closed' },
    });
  });

  it('is down where a store that was put in place of the module has no answer', async () => {
    const building = Test.createTestingModule({ imports: [rootModule(parts)] });
    const module = await building.overrideProvider(RATE_LIMIT_STORE).useValue(new BrokenStore()).compile();

    expect(await module.get(RateLimitHealthIndicator).isHealthy('limits')).toMatchObject({
      limits: { status: 'down', kind: 'unknown' },
    });
    expect(module.get(RateLimiter).health().state).toBe('available');
  });
});
