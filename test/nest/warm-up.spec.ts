import { describe, expect, it } from '@jest/globals';
import { RATE_LIMIT_STORE, MemoryStore, RateLimiter, type RateLimitOptions } from 'nestjs-floodgate';
import { Test } from '@nestjs/testing';
import { layoutFor } from '../../src/nest/outcome.ts';
import type { Rule } from '../../src/nest/rule.ts';
import { soleRule } from '../../src/nest/sole-rule.ts';
import { rootModule } from '../support/limited-app.ts';
import { startMessageOfRules } from '../support/start-error.ts';

describe('warmUp', () => {
  it.each<[RateLimitOptions, string]>([
    [{ warmUp: 'soon' }, 'warmUp must be seconds as a number'],
    [{ warmUp: 0 }, 'warmUp must be a whole number of milliseconds, at least 1'],
    [{ warmUp: { over: '1s', coldFactor: 1 } }, 'warmUp must have a coldFactor above 1, and at most 100'],
    [{ warmUp: { over: '1s', coldFactor: 101 } }, 'warmUp must have a coldFactor above 1, and at most 100'],
    [{ warmUp: { over: '1s', from: 3 } as never }, 'warmUp must have over and coldFactor, and not from'],
    [{ warmUp: '1s', limit: 10, cost: 5 }, 'cost must not be above 4, the limit of a cold start by warmUp'],
    [{ warmUp: '1s', limit: 129, exact: true }, 'limit must not be above 128 where exact is true, and warmUp given'],
  ])('that is faulty fails the start: %j', async (rule, message) => {
    expect(await startMessageOfRules([rule])).toContain(message);
  });

  it.each<readonly [RateLimitOptions['warmUp'], RateLimitOptions['warmUp']]>([
    ['1s', '2s'],
    ['1s', { over: '1s', coldFactor: 4 }],
    ['1s', undefined],
  ])('is the same for all rules of a bucket: %j and %j are not', async (one, other) => {
    const bucket = { bucket: 'shared', window: 10 };
    expect(
      await startMessageOfRules([
        { ...bucket, ...(one !== undefined && { warmUp: one }) },
        { ...bucket, ...(other !== undefined && { warmUp: other }) },
      ]),
    ).toContain('share the bucket shared, but not the warm-up');
  });

  it('leaves room for the cost of all rules of a bucket on one handler', async () => {
    const bucket = { bucket: 'shared', window: 10, warmUp: '1s' } as const;
    expect(
      await startMessageOfRules([
        { ...bucket, limit: 9 },
        { ...bucket, limit: 100, cost: 5 },
      ]),
    ).toContain('one costs more than the other admits');
  });

  it('tells rules of one name apart', () => {
    const rule = { name: 'quotes', warmUp: { overMs: 1_000, coldFactor: 3 } } as Rule;
    expect(soleRule('quotes', [rule, { ...rule }])).toBe(rule);
    for (const warmUp of [undefined, { overMs: 1_000, coldFactor: 4 }]) {
      expect(() => soleRule('quotes', [rule, { ...rule, warmUp }])).toThrow('several rules are named');
    }
  });

  it('lets outcomes be counted exactly where the limit is small', () => {
    const warmUp = { overMs: 1_000, coldFactor: 3 };
    expect([128, 129].map((limit) => layoutFor('failed', limit, 1, warmUp))).toEqual(['exact', undefined]);
  });

  it('lets the limit of a rule climb, with a third of it at first', async () => {
    let now = 0;
    const module = await Test.createTestingModule({ imports: [rootModule({})] })
      .overrideProvider(RATE_LIMIT_STORE)
      .useValue(new MemoryStore({ now: () => now }))
      .compile();
    const limiter = module.get(RateLimiter);
    const rule = { name: 'quotes', window: 1, limit: 9, warmUp: { over: '10s', coldFactor: 3 } } as const;
    const admitted: number[] = [];
    for (; now <= 20_000; now += 1_000) {
      let count = 0;
      while ((await limiter.consume(rule, 'all')).allowed) count++;
      admitted.push(count);
    }
    expect([admitted[0], admitted[5], admitted[10], admitted[20]]).toEqual([3, 5, 9, 9]);
    await module.close();
  });
});
