import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { MemoryStore, RateLimit, RateLimiter, RedisStore, type RateLimitStore } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { PLATFORMS, type Answer } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

@Controller()
class QuotesController {
  @RateLimit({ name: 'quotes', window: '2s', limit: 12, warmUp: '10s' })
  @Get('quotes')
  quotes() {}

  @RateLimit({ window: '1s', limit: 12, type: 'IP', warmUp: { over: '10s', coldFactor: 6 } })
  @Get('slow')
  slow() {}

  @RateLimit({ window: '1s', limit: () => 129, exact: true, warmUp: '10s' })
  @Get('too-large')
  tooLarge() {}
}

const CASES = PLATFORMS.flatMap((platform) => ['in process', 'in Redis'].map((where) => [platform, where] as const));

describe.each(CASES)('a limit that climbs, on %s, with budgets %s', (platform, where) => {
  const redis = useRedis();
  const startApp = useApps();

  const start = async () => {
    const clock = new ManualClock();
    const { keyPrefix, client } = redis;
    const store: RateLimitStore =
      where === 'in process'
        ? new MemoryStore({ now: clock.now })
        : new RedisStore(client, { keyPrefix, now: clock.now });
    // Nothing here is about answering in time.
    const options = { store, decisionTimeout: '30s', onStoreError: 'deny', headers: ['legacy', 'draft-11'] } as const;
    const app = await startApp(platform, { controllers: [QuotesController], options });
    const limiter = app.app.get(RateLimiter);
    /** Sends requests until one is refused. */
    const useUp = async (path: string): Promise<readonly Answer[]> => {
      for (const answers: Answer[] = []; ;) {
        const answer = await app.get(path);
        answers.push(answer);
        if (answer.status !== 200) return answers;
      }
    };
    return { ...app, clock, limiter, useUp };
  };
  const remaining = ({ headers }: Answer): number => Number(headers.get('x-ratelimit-remaining'));

  it('tells the rule’s limit, and what remains of the one that is reached', async () => {
    const { useUp } = await start();
    const answers = await useUp('/quotes');
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(answers.map(remaining)).toEqual([3, 2, 1, 0, 0]);
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe('12');
      expect(headers.get('ratelimit-policy')).toBe('"quotes";q=12;w=2');
    }
    expect(answers[0]!.headers.get('ratelimit')).toBe('"quotes";r=3;t=2');
  });

  it('begins lower by the cold factor', async () => {
    const { useUp } = await start();
    expect((await useUp('/slow')).map(remaining)).toEqual([1, 0, 0]);
  });

  it('refuses one millisecond before the moment that a refusal tells, and admits then, while it climbs', async () => {
    const { clock, get, limiter, useUp } = await start();
    for (const end = clock.now() + 12_000; clock.now() < end;) {
      const refused = (await useUp('/quotes')).at(-1)!;
      const preview = await limiter.peek('quotes', '');
      if (preview.allowed) throw new Error('there is room');
      // In whole seconds, rounded up.
      expect(refused.headers.get('retry-after')).toBe(String(Math.ceil(preview.retryAfterMs! / 1_000)));
      clock.advance(preview.retryAfterMs! - 1);
      expect((await get('/quotes')).status).toBe(429);
      clock.advance(1);
      expect((await get('/quotes')).status).toBe(200);
    }
  });

  it('cannot be judged where a function gives an exact limit above 128', async () => {
    const { statuses } = await start();
    expect(await statuses(1, '/too-large')).toEqual([503]);
  });

  it('climbs in both windows while the window of a rule changes', async () => {
    const { get, limiter, useUp } = await start();
    await limiter.rules.override('quotes', { window: '4s', limit: 30 });
    expect(remaining(await get('/quotes'))).toBe(3);
    expect((await useUp('/quotes')).map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  });

  it('tells what remains to the request, while it climbs and when it is reached', async () => {
    const { clock, get, useUp } = await start();
    for (const end = clock.now() + 16_000; clock.now() < end; clock.advance(200)) {
      const first = await get('/quotes');
      if (first.status !== 200) continue;
      const others = await useUp('/quotes');
      expect(others.length - 1).toBe(remaining(first));
    }
    clock.advance(2_000);
    expect(remaining(await get('/quotes'))).toBe(11);
    clock.advance(30_000);
    expect(remaining(await get('/quotes'))).toBe(3);
  });
});
