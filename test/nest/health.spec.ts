import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import {
  MemoryStore,
  RATE_LIMIT_STORE,
  RateLimiter,
  RateLimitModule,
  StoreUnavailableError,
  type RateLimitModuleOptions,
  type RateLimitStore,
} from 'nestjs-floodgate';
import { FailingStore } from '../support/failing-store.ts';
import { useApps } from '../support/limited-app.ts';

const RULE = { name: 'health', window: '1m', limit: 100, onStoreError: 'allow' } as const;
const START = 1_700_000_000_000;

describe('the health of the store, as the limiter service tells it', () => {
  const start = useApps();
  const limiterWith = async (options: RateLimitModuleOptions): Promise<RateLimiter> =>
    (await start('express', { options })).app.get(RateLimiter);

  beforeEach(() => {
    jest.useFakeTimers({ now: START, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const failing = async (kind: FailingStore['failure'], calls: number) => {
    const store = new FailingStore();
    const limiter = await limiterWith({ store });
    jest.advanceTimersByTime(5_000);
    store.failure = kind;
    for (let i = 0; i < calls; i++) {
      // Failures of one moment count as one.
      if (i > 0) jest.advanceTimersByTime(10);
      await limiter.consume(RULE, 'alice');
    }
    return { store, limiter };
  };

  it('is good since the start while nothing has failed', async () => {
    const limiter = await limiterWith({ store: new FailingStore() });
    jest.advanceTimersByTime(5_000);

    expect(limiter.health()).toEqual({ state: 'available', since: START, circuit: 'closed' });
  });

  it('says how long decisions take, once there was one', async () => {
    const limiter = await limiterWith({ store: new FailingStore() });
    await limiter.consume(RULE, 'alice');

    expect(limiter.health().latencyMs).toBeGreaterThanOrEqual(0);
  });

  it('says since when the store cannot decide, and why', async () => {
    const { limiter } = await failing('loading', 1);
    jest.advanceTimersByTime(5_000);

    expect(limiter.health()).toEqual({
      state: 'unavailable',
      since: START + 5_000,
      circuit: 'closed',
      lastError: expect.objectContaining({ name: 'StoreUnavailableError', kind: 'loading' }),
    });
  });

  it('says that the store is not asked any more, and still why that is', async () => {
    const { store, limiter } = await failing('loading', 50);

    expect(limiter.health()).toMatchObject({ circuit: 'open', lastError: { kind: 'loading' } });
    expect(store.asked).toBeLessThan(50);
  });

  it('is good again, since the first decision after a second without a failure, and keeps the last error', async () => {
    const { store, limiter } = await failing('loading', 50);
    store.failure = undefined;
    jest.advanceTimersByTime(1_000);
    await limiter.consume(RULE, 'alice');

    expect(limiter.health()).toMatchObject({
      state: 'available',
      since: START + 6_490,
      circuit: 'closed',
      lastError: { kind: 'loading' },
    });
  });

  it('is not bad for a failure of a single request', async () => {
    const { limiter } = await failing('wrong-type', 50);

    expect(limiter.health()).toMatchObject({ state: 'available', since: START, circuit: 'closed' });
    expect(limiter.health()).not.toHaveProperty('lastError');
  });

  it.each<[string, RateLimitModuleOptions]>([
    ['keeps limits in this process', {}],
    ['limits nothing', { enabled: false, store: new FailingStore() }],
  ])('is good in an application that %s', async (_, options) => {
    const module = await Test.createTestingModule({ imports: [RateLimitModule.forRoot(options)] }).compile();

    expect(module.get(RateLimiter).health()).toEqual({ state: 'available', since: START, circuit: 'closed' });
  });

  describe('where the application has put a store in place of that of the module', () => {
    const limiterOf = async (store: RateLimitStore): Promise<RateLimiter> => {
      const building = Test.createTestingModule({ imports: [RateLimitModule.forRoot()] });
      const module = await building.overrideProvider(RATE_LIMIT_STORE).useValue(store).compile();
      return module.get(RateLimiter);
    };

    it('is good since the start if that store does not tell, whatever it meets', async () => {
      const store = new FailingStore();
      const limiter = await limiterOf(store);
      store.failure = 'connection';
      await limiter.consume(RULE, 'alice').catch(() => undefined);
      jest.advanceTimersByTime(5_000);

      expect(limiter.health()).toEqual({ state: 'available', since: START, circuit: 'closed' });
    });

    it('is what that store tells', async () => {
      const lastError = new StoreUnavailableError('busy', 'busy');
      const health = { state: 'unavailable', since: 7, circuit: 'half-open', latencyMs: 1, lastError } as const;
      const limiter = await limiterOf(Object.assign(new MemoryStore(), { health: () => health }));

      expect(limiter.health()).toEqual(health);
    });
  });
});
