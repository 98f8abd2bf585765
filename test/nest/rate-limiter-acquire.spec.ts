import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject } from '@nestjs/common';
import {
  MemoryStore,
  RateLimit,
  RateLimiter,
  RateLimitException,
  RateLimitUnavailableException,
  type AcquireOptions,
  type RateLimitModuleOptions,
} from 'nestjs-floodgate';
import { BrokenStore } from '../support/broken-store.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const UPSTREAM = { name: 'upstream', window: '300ms', limit: 2 } as const;

@Controller()
class WaitingController {
  constructor(@Inject(RateLimiter) private readonly limiter: RateLimiter) {}

  @RateLimit({ name: 'sale', limit: 1, message: 'Sold out.' }, { name: 'door', type: 'IP', message: () => 'Mind.' })
  @Get('sale')
  sale() {}

  @RateLimit({ name: 'turns', window: '300ms', limit: 1 })
  @Get('turns')
  turns() {}

  @RateLimit({ name: 'gate', type: 'IP', window: 1, limit: 1, block: { after: 1, within: '1m', for: '1h' } })
  @Get('gate')
  gate() {}

  @Get('waits')
  async waits() {
    await this.limiter.schedule({ name: 'slow', window: '1h', limit: 1 }, 'all', () => undefined);
  }
}

const controllers = [WaitingController];

describe.each(['in process', 'in Redis'])('the limiter service lets calls wait, with budgets %s', (where) => {
  const redis = useRedis();
  const start = useApps();

  const startLimiter = async (): Promise<RateLimiter> => {
    const inRedis = { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s', liveRules: true };
    const options = where === 'in Redis' ? inRedis : { store: new MemoryStore() };
    const { app } = await start('express', { controllers, options });
    return app.get(RateLimiter);
  };

  it('until there is room, in their order', async () => {
    const limiter = await startLimiter();
    const order: string[] = [];
    const begunAt = performance.now();
    await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (name) => {
        const decision = await limiter.acquire(UPSTREAM, 'all');
        if (decision.allowed) order.push(name);
      }),
    );

    expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(600);
  });

  it('by the limit in force when it is their turn, though they came while it was larger', async () => {
    const limiter = await startLimiter();
    await limiter.rules.override('turns', { limit: 3 });
    await limiter.consume('turns', '', { cost: 3 });
    const admittedAt: number[] = [];
    const waiting = ['a', 'b', 'c'].map(async () => {
      await limiter.acquire('turns', '');
      admittedAt.push(performance.now());
    });
    await limiter.rules.clear('turns');
    await Promise.all(waiting);

    const [first, second, third] = admittedAt;
    // Timers of the process may be off by a millisecond.
    expect(second! - first!).toBeGreaterThan(290);
    expect(third! - second!).toBeGreaterThan(290);
  });

  it('at once when a change makes room, though a refusal told a later moment', async () => {
    const limiter = await startLimiter();
    await limiter.consume('sale', '');
    const waiting = limiter.acquire('sale', '');
    await pause(50);
    await limiter.rules.override('sale', { limit: 2 });

    // The window is longer than a test may take.
    expect(await waiting).toMatchObject({ allowed: true, budgets: [{ limit: 2 }] });
    await limiter.rules.clear('sale');
  });

  it('but not those whose turn comes too late by a change', async () => {
    const limiter = await startLimiter();
    await limiter.rules.override('sale', { limit: 9 });
    await limiter.consume('sale', '', { cost: 9 });
    const abort = new AbortController();
    const first = limiter.acquire('sale', '', { maxWait: '12s', signal: abort.signal });
    const others = [1, 2].map(() => limiter.acquire('sale', '', { maxWait: '12s' }));
    await pause(50);
    await limiter.rules.clear('sale');

    expect(await Promise.all(others)).toMatchObject([{ allowed: false }, { allowed: false }]);
    abort.abort(new Error('not needed any more'));
    await expect(first).rejects.toThrow('not needed any more');
  });

  it('but not those whom the rule blocks meanwhile', async () => {
    const limiter = await startLimiter();
    await limiter.consume('gate', '203.0.113.7');
    const waiting = [1, 2].map(() => limiter.acquire('gate', '203.0.113.7'));
    await pause(50);
    await limiter.consume('gate', '203.0.113.7');

    for (const decision of await Promise.all(waiting)) {
      expect(decision).toMatchObject({ allowed: false, refusedBy: [{ isBlock: true }] });
    }
  });

  it('but not those that would wait too long, nor those that are aborted', async () => {
    const limiter = await startLimiter();
    await limiter.consume(UPSTREAM, 'all', { cost: 2 });
    const abort = new AbortController();
    const waiting = limiter.acquire(UPSTREAM, 'all', { signal: abort.signal });
    const begunAt = performance.now();

    expect(await limiter.acquire(UPSTREAM, 'all', { maxWait: '50ms' })).toMatchObject({
      allowed: false,
      retryAfterMs: expect.any(Number),
    });
    expect(performance.now() - begunAt).toBeLessThan(250);
    abort.abort(new Error('not needed any more'));
    await expect(waiting).rejects.toThrow('not needed any more');
    expect((await limiter.acquire(UPSTREAM, 'all', { cost: 2 })).allowed).toBe(true);
  });

  it('before it calls a function, whose result it gives', async () => {
    const limiter = await startLimiter();
    const calledAt: number[] = [];
    const work = (result: number) => async () => {
      calledAt.push(performance.now());
      return result;
    };
    const results = await Promise.all([1, 2, 3].map((n) => limiter.schedule(UPSTREAM, 'all', work(n))));

    expect(results).toEqual([1, 2, 3]);
    expect(calledAt[2]! - calledAt[0]!).toBeGreaterThanOrEqual(290);
    await expect(limiter.schedule(UPSTREAM, 'all', () => Promise.reject(new Error('its own')))).rejects.toThrow(
      'its own',
    );
  });

  it('and takes a part where there is no room for all', async () => {
    const limiter = await startLimiter();
    const rule = { name: 'rows', window: '1m', limit: 10 } as const;

    expect(await limiter.consumeUpTo(rule, 'all', 6)).toMatchObject({
      allowed: true,
      granted: 6,
      budgets: [{ cost: 6, remaining: 4 }],
    });
    const rest = await limiter.consumeUpTo(rule, 'all', 6);
    expect(rest).toMatchObject({ allowed: true, granted: 4, budgets: [{ cost: 4, remaining: 0 }] });
    expect(await limiter.consumeUpTo(rule, 'all', 6)).toMatchObject({
      allowed: false,
      refusedBy: [{ cost: 1, remaining: 0 }],
      retryAfterMs: expect.any(Number),
    });
    if (rest.allowed) await limiter.refund(rest);
    expect(await limiter.consumeUpTo(rule, 'all', 3)).toMatchObject({ granted: 3 });
    expect(await limiter.consumeUpTo(rule, 'another', 500)).toMatchObject({ granted: 10 });
  });

  it('and takes the room that came since a refusal that is remembered', async () => {
    const limiter = await startLimiter();
    const rule = { name: 'rows', window: '400ms', limit: 10 } as const;
    await limiter.consume(rule, 'all', { cost: 4 });
    await pause(150);
    await limiter.consume(rule, 'all', { cost: 6 });
    expect(await limiter.consumeUpTo(rule, 'all', 8)).toMatchObject({ allowed: false });
    await pause(270);

    expect(await limiter.consumeUpTo(rule, 'all', 8)).toMatchObject({ granted: 4 });
  });

  it('and grants no more than there is, whatever is asked at once', async () => {
    const limiter = await startLimiter();
    const rule = { name: 'rows', window: '1m', limit: 100 } as const;
    const decisions = await Promise.all(Array.from({ length: 30 }, () => limiter.consumeUpTo(rule, 'all', 7)));
    const granted = decisions.map((decision) => (decision.allowed ? decision.granted : 0));

    expect(granted.reduce((sum, units) => sum + units, 0)).toBe(100);
  });
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('waiting by the limiter service', () => {
  const start = useApps();
  const startLimiter = async (options: RateLimitModuleOptions = {}): Promise<RateLimiter> =>
    (await start('express', { controllers, options })).app.get(RateLimiter);

  it('is refused by an exception with the message of the rule, where a function is to be called', async () => {
    const limiter = await startLimiter();
    await limiter.consume('sale', '');
    let isCalled = false;
    const refusal = limiter.schedule('sale', '', () => void (isCalled = true), { maxWait: 1 });

    await expect(refusal).rejects.toBeInstanceOf(RateLimitException);
    await expect(refusal).rejects.toMatchObject({
      message: 'Sold out.',
      decision: { retryAfterMs: expect.any(Number) },
    });
    expect(isCalled).toBe(false);
  });

  it('tells the default message where that of the rule is a function of a request', async () => {
    const limiter = await startLimiter();
    await limiter.consume('door', '203.0.113.7', { cost: 20 });
    const refusal = limiter.schedule('door', '203.0.113.7', () => undefined, { maxWait: 1 });

    await expect(refusal).rejects.toThrow('Too many requests, please try again later.');
  });

  it.each<[string, AcquireOptions, RegExp]>([
    ['a wait of nothing', { maxWait: 0 }, /RateLimiter: maxWait .*milliseconds.*got 0/],
    ['a wait that is no time', { maxWait: 'soon' }, /RateLimiter: maxWait .*got "soon"/],
    ['a queue without places', { maxQueued: 0 }, /RateLimiter: maxQueued .*1 to 100000, got 0/],
    ['a queue without end', { maxQueued: Infinity }, /RateLimiter: maxQueued .*got Infinity/],
    ['a signal that is none', { signal: {} as AbortSignal }, /RateLimiter: signal must be an AbortSignal, got \{\}/],
    ['a cost that is none', { cost: 1.5 }, /cost must be a whole number/],
  ])('asks for what it can do: %s', async (_, options, message) => {
    await expect((await startLimiter()).acquire('sale', '', options)).rejects.toThrow(message);
  });

  it('is one decision for those who watch', async () => {
    const limiter = await startLimiter();
    const told: string[] = [];
    limiter.decisions$.subscribe(({ outcome, cost, source }) => told.push(`${outcome} ${cost} ${source}`));
    await limiter.acquire('sale', '');
    await limiter.acquire('sale', '', { maxWait: 1 });
    await limiter.consumeUpTo({ name: 'rows', limit: 3 }, 'all', 5);
    await limiter.consumeUpTo({ name: 'rows', limit: 3 }, 'all', 5);

    expect(told).toEqual(['allowed 1 store', 'refused 1 store', 'allowed 3 store', 'refused 1 store']);
  });

  it('takes a unit at least', async () => {
    await expect((await startLimiter()).consumeUpTo('sale', '', 0)).rejects.toThrow(/1 or more, got 0/);
  });

  it('does not ask the store for a call that was aborted before', async () => {
    const { app, store } = await start('express', { controllers });
    const aborted = app.get(RateLimiter).acquire('sale', '', { signal: AbortSignal.abort(new Error('gone')) });

    await expect(aborted).rejects.toThrow('gone');
    expect(store.consumed).toEqual([]);
  });

  it('does not happen where nothing is limited', async () => {
    const limiter = await startLimiter({ enabled: false });
    for (let i = 0; i < 3; i++) {
      expect(await limiter.acquire('sale', '')).toEqual({ allowed: true, id: expect.any(String), budgets: [] });
      expect(await limiter.schedule('sale', '', () => i)).toBe(i);
      expect(await limiter.consumeUpTo('sale', '', 5)).toMatchObject({ allowed: true, granted: 5 });
    }
  });

  const whenBroken = async (onStoreError: 'deny' | 'allow') => {
    const limiter = await startLimiter({ store: new BrokenStore(), onStoreError });
    return [limiter.acquire('sale', ''), limiter.consumeUpTo('sale', '', 3), limiter.acquire('sale', '')];
  };

  it('fails when the store cannot answer and the policy is deny', async () => {
    for (const decision of await whenBroken('deny'))
      await expect(decision).rejects.toBeInstanceOf(RateLimitUnavailableException);
  });

  it('lets all pass when the store cannot answer and the policy is allow', async () => {
    for (const decision of await whenBroken('allow'))
      await expect(decision).resolves.toMatchObject({ allowed: true, budgets: [] });
  });
});

describe.each(PLATFORMS)('an application that closes, on %s', (platform) => {
  const start = useApps();

  it('answers requests that wait with 503, and does not wait for them', async () => {
    const { app, get, store } = await start(platform, { controllers });
    await get('/waits');
    const waiting = get('/waits');
    while (store.consumed.length < 2) await pause(5);
    const error = app.get(RateLimiter).acquire({ name: 'slow', window: '1h', limit: 1 }, 'all').catch(String);
    await app.close();

    expect((await waiting).status).toBe(503);
    expect(await error).toMatch(/The application closed while a call waited for its turn/);
  });
});
