import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import {
  MemoryStore,
  RateLimit,
  StoreUnavailableError,
  type ConsumeRequest,
  type Decision,
  type RateLimitModuleOptions,
} from 'nestjs-floodgate';
import { as, AuthenticationGuard } from '../support/authentication.ts';
import { BrokenStore } from '../support/broken-store.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { RecordingStore } from '../support/recording-store.ts';

@Controller()
class PoliciesController {
  @RateLimit({ limit: 1 })
  @Get('default')
  byDefault() {}

  @RateLimit({ limit: 1, onStoreError: 'allow' })
  @Get('allow')
  allow() {}

  @RateLimit({ limit: 1, onStoreError: 'local' })
  @Get('local')
  local() {}

  @RateLimit({ limit: 6, name: 'sixth' })
  @Get('share')
  share() {}

  @RateLimit({ limit: 1, onStoreError: 'deny' })
  @Get('deny')
  deny() {}

  @RateLimit({ limit: 1, onStoreError: 'allow' }, { limit: 1, window: '1m', onStoreError: 'deny' })
  @Get('both')
  both() {}

  @RateLimit({ limit: 1, type: 'IP' }, { limit: 1, type: 'USER', onStoreError: 'deny' })
  @UseGuards(AuthenticationGuard)
  @Get('two-moments')
  twoMoments() {}
}

const controllers = [PoliciesController];

/** Answers or fails as the test says: call by call, and the rest alike. */
class FailingStore extends RecordingStore {
  next: boolean[] = [];

  constructor(public answers = false) {
    super(new MemoryStore());
  }

  override async consume(request: ConsumeRequest): Promise<Decision> {
    if (this.next.shift() ?? this.answers) return super.consume(request);
    throw new StoreUnavailableError('readonly', 'the test made it read-only');
  }
}

describe.each(PLATFORMS)('when the store cannot answer, on %s', (platform) => {
  afterEach(() => {
    jest.restoreAllMocks();
  });
  const start = useApps();
  const startBroken = (options: RateLimitModuleOptions = {}, logger?: LogLines) =>
    start(platform, { controllers, options: { store: new BrokenStore(), ...options }, ...(logger && { logger }) });

  it.each<[string, RateLimitModuleOptions, string, number]>([
    ['serves a rule that allows', {}, '/allow', 200],
    ['refuses a rule that denies as unavailable', {}, '/deny', 503],
    ['refuses a request of which one rule denies', {}, '/both', 503],
    ['follows the module', { onStoreError: 'deny' }, '/default', 503],
    ['follows the rule before the module', { onStoreError: 'deny' }, '/allow', 200],
    ['follows the rule before a module that allows', { onStoreError: 'allow' }, '/deny', 503],
    ['follows the defaults of rules', { defaults: { onStoreError: 'deny' } }, '/default', 503],
    [
      'follows the defaults of rules before the module',
      { onStoreError: 'deny', defaults: { onStoreError: 'allow' } },
      '/default',
      200,
    ],
    ['follows the rule before the defaults', { defaults: { onStoreError: 'deny' } }, '/allow', 200],
  ])('the application %s', async (_, options, path, status) => {
    const app = await startBroken(options);

    expect(await app.statuses(3, path)).toEqual([status, status, status]);
  });

  it.each<[string, RateLimitModuleOptions, string]>([
    ['has no policy', {}, '/default'],
    ['says so', { onStoreError: 'deny' }, '/local'],
    ['has it from the module', { onStoreError: 'local' }, '/default'],
  ])(
    'the process decides by itself, with numbers and a time to come back, where a rule %s',
    async (_, options, path) => {
      const app = await startBroken(options);
      const admitted = await app.get(path);
      const refused = await app.get(path);

      expect([admitted.status, refused.status]).toEqual([200, 429]);
      expect(admitted.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    },
  );

  it('each of several processes admits its share, and tells the whole limit', async () => {
    const app = await startBroken({ instances: 3 });

    expect(await app.statuses(4, '/share')).toEqual([200, 200, 429, 429]);
    expect((await app.get('/share')).headers.get('x-ratelimit-limit')).toBe('6');
    expect((await app.get('/share')).json).toMatchObject({ statusCode: 429, rule: 'sixth', limit: 6 });
  });

  it('a request that is served carries no numbers that nobody knows', async () => {
    const { headers } = await (await startBroken()).get('/allow');

    expect([...headers.keys()].filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
  });

  it('a request that is refused is told when to come back, and nothing of the fault', async () => {
    const { status, headers, json, text } = await (await startBroken()).get('/deny');

    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(json).toEqual({ statusCode: 503, error: 'Service Unavailable', message: expect.any(String) });
    expect(text).not.toMatch(/test broke|store|connection/);
  });

  it('the log says so once, and once more when it answers again', async () => {
    let laterMs = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
    const logger = new LogLines();
    const store = new FailingStore();
    const app = await start(platform, { controllers, logger, options: { store } });
    expect(await app.statuses(3, '/allow')).toEqual([200, 200, 200]);
    expect(logger.errors).toEqual([expect.stringMatching(/\(readonly\).*onStoreError.*read-only/)]);
    store.answers = true;
    laterMs = 5_000;

    expect(await app.statuses(3, '/allow')).toEqual([200, 429, 429]);
    expect(logger.matching(/answers again/)).toHaveLength(1);
    expect(logger.errors).toHaveLength(1);
  });

  it('at the later moment, what the earlier one took is given back to a request that is refused', async () => {
    const store = new FailingStore();
    const app = await start(platform, { controllers, options: { store } });
    store.next = [true, false];

    expect(await app.statuses(1, '/two-moments', as('alice'))).toEqual([503]);
    expect(store.refunded.map(({ id }) => id)).toEqual([store.consumed[0]!.id]);
    store.answers = true;
    expect(await app.statuses(1, '/two-moments', as('alice'))).toEqual([200]);
  });

  it('at the earlier moment alone, the later one still limits', async () => {
    const store = new FailingStore();
    const app = await start(platform, { controllers, options: { store } });
    store.next = [false, true, false, true];

    expect(await app.statuses(2, '/two-moments', as('alice'))).toEqual([200, 429]);
  });

  it('both moments of a request share one deadline', async () => {
    const silent = new BrokenStore();
    silent.consume = () => new Promise<never>(() => {});
    const app = await startBroken({ store: silent, decisionTimeout: '1s' });
    const begin = performance.now();

    expect(await app.statuses(1, '/two-moments', as('alice'))).toEqual([503]);
    expect(performance.now() - begin).toBeLessThan(1_900);
  });

  it('in time, the request does not wait for it', async () => {
    const silent = new BrokenStore();
    silent.consume = () => new Promise<never>(() => {});
    const app = await startBroken({ store: silent, decisionTimeout: '50ms' });
    const begin = performance.now();

    expect(await app.statuses(1, '/allow')).toEqual([200]);
    expect(await app.statuses(1, '/deny')).toEqual([503]);
    expect(performance.now() - begin).toBeLessThan(2_000);
  });
});
