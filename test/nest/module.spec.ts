import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import {
  createRateLimitStore,
  MemoryStore,
  RATE_LIMIT_STORE,
  RateLimit,
  RateLimiter,
  RateLimitModule,
  type RateLimitModuleOptions,
  type RateLimitOptionsFactory,
  type RateLimitStore,
} from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { RecordingStore } from '../support/recording-store.ts';

@Controller()
class PlainController {
  @RateLimit({ window: '1m' })
  @Get('plain')
  get() {}
}

const controllers = [PlainController];
const OPTIONS: RateLimitModuleOptions = { defaults: { limit: 2 } };

@Injectable()
class Settings implements RateLimitOptionsFactory {
  readonly limit = 2;

  createRateLimitOptions(): RateLimitModuleOptions {
    return OPTIONS;
  }
}

@Injectable()
class SlowSettings implements RateLimitOptionsFactory {
  constructor(@Inject(Settings) private readonly settings: Settings) {}

  async createRateLimitOptions(): Promise<RateLimitModuleOptions> {
    return this.settings.createRateLimitOptions();
  }
}

@Module({ providers: [Settings, SlowSettings], exports: [Settings, SlowSettings] })
class SettingsModule {}

describe.each(PLATFORMS)('the module on %s', (platform) => {
  const start = useApps();

  it.each<[string, () => DynamicModule]>([
    ['given to it', () => RateLimitModule.forRoot(OPTIONS)],
    ['of a factory', () => RateLimitModule.forRootAsync({ useFactory: () => OPTIONS })],
    ['of an asynchronous factory', () => RateLimitModule.forRootAsync({ useFactory: async () => OPTIONS })],
    [
      'of a factory with dependencies',
      () =>
        RateLimitModule.forRootAsync({
          imports: [SettingsModule],
          inject: [Settings],
          useFactory: ({ limit }: Settings) => ({ defaults: { limit } }),
        }),
    ],
    ['of a class', () => RateLimitModule.forRootAsync({ useClass: Settings })],
    [
      'of a class with dependencies',
      () => RateLimitModule.forRootAsync({ imports: [SettingsModule], useClass: SlowSettings }),
    ],
    [
      'of a provider that exists',
      () => RateLimitModule.forRootAsync({ imports: [SettingsModule], useExisting: SlowSettings }),
    ],
  ])('takes the options %s', async (_, limits) => {
    const app = await start(platform, { controllers, imports: () => [limits()] });

    expect(await app.statuses(3, '/plain')).toEqual([200, 200, 429]);
  });

  it('works without options, and says once that limits hold for this process only', async () => {
    const logger = new LogLines();
    const app = await start(platform, { controllers, logger, imports: () => [RateLimitModule.forRoot()] });
    await app.statuses(19, '/plain');

    expect(await app.statuses(2, '/plain')).toEqual([200, 429]);
    expect(logger.matching(/this process only/)).toHaveLength(1);
  });

  it('does not say so when it has a store of the application', async () => {
    const logger = new LogLines();
    await start(platform, { controllers, logger });

    expect(logger.matching(/process only/)).toEqual([]);
  });

  it('limits nothing when it is switched off', async () => {
    const app = await start(platform, { controllers, options: { ...OPTIONS, rules: [{ limit: 1 }], enabled: false } });
    const answer = await app.get('/plain');

    expect(await app.statuses(3, '/plain')).toEqual([200, 200, 200]);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expect(app.store.consumed).toEqual([]);
  });

  it('gives its service and its store to every module without an import', async () => {
    @Injectable()
    class Elsewhere {
      constructor(
        @Inject(RateLimiter) readonly limiter: RateLimiter,
        @Inject(RATE_LIMIT_STORE) readonly store: RateLimitStore,
      ) {}
    }
    @Module({ providers: [Elsewhere] })
    class ElsewhereModule {}
    const app = await start(platform, { imports: (limits) => [ElsewhereModule, limits] });
    const { limiter, store } = app.app.get(Elsewhere, { strict: false });

    expect(limiter).toBeInstanceOf(RateLimiter);
    const charge = { key: 'k', limit: 1, windowMs: 1, cost: 1 };
    expect(await store.peek([charge])).toMatchObject({ allowed: true, budgets: [charge] });
  });

  it('closes its store once, when the application has closed', async () => {
    const app = await start(platform, { controllers });
    expect(app.store.timesClosed).toBe(0);
    await app.close();

    expect(app.store.timesClosed).toBe(1);
  });
});

describe('a store of the application’s own', () => {
  it('is wrapped by the module as it is without Nest', async () => {
    const inner = new RecordingStore(new MemoryStore());
    const store = await createRateLimitStore({ store: inner });
    const charge = { key: 'k', limit: 1, windowMs: 60_000, cost: 1 };

    expect(await store.consume({ id: 'one', charges: [charge] })).toMatchObject({ allowed: true });
    expect(await store.consume({ id: 'two', charges: [charge] })).toMatchObject({ allowed: false });
    expect(inner.consumed.map(({ id }) => id)).toEqual(['one', 'two']);
  });
});
