import { describe, expect, it } from '@jest/globals';
import { tiers, type RateLimitOptions } from 'nestjs-floodgate';
import { startMessageOfRules } from '../support/start-error.ts';

const planOf = () => 'free';
const otherPlanOf = () => 'free';
const from = (...given: readonly unknown[]) => (tiers as (...parts: readonly unknown[]) => () => number)(...given);

const FAULTY: readonly (readonly [string, RateLimitOptions, string])[] = [
  ['a limit of zero', { limit: from({ free: 0 }, planOf) }, 'limit of tier "free" must be a whole number .*, got 0'],
  ['a limit in text', { limit: from({ vip: 'many' }, planOf) }, 'limit of tier "vip" must be .*, got "many"'],
  ['a missing limit', { limit: from({ vip: undefined }, planOf) }, 'limit of tier "vip" must be .*, got undefined'],
  [
    'a limit by function',
    { limit: from({ vip: planOf }, planOf) },
    'limit of tier "vip" must be .*, got function planOf',
  ],
  [
    'milliseconds for a window',
    { window: from({ free: 60_000 }, planOf) },
    'window of tier "free" is a bare number .*, got 60000',
  ],
  ['a cost of half a unit', { cost: from({ free: 0.5 }, planOf) }, 'cost of tier "free" must be .*, got 0.5'],
  ['no tiers', { limit: from({}, planOf) }, 'limit by tiers must be an object with a value for each tier, got {}'],
  ['a list', { limit: from([1, 2], planOf) }, 'limit by tiers must be an object .*, got \\[1,2\\]'],
  ['nothing', { limit: from() }, 'limit by tiers must be an object .*, got undefined'],
  ['no function', { limit: from({ free: 1 }, 'plan') }, 'limit by tiers must have a function .*, got "plan"'],
  [
    'another tier otherwise',
    { limit: from({ free: 1, vip: 2 }, planOf, { otherwise: 'gold' }) },
    'limit by tiers: otherwise must be one of free, vip, got "gold"',
  ],
  [
    'a name of all objects otherwise',
    { limit: from({ free: 1 }, planOf, { otherwise: 'constructor' }) },
    'limit by tiers: otherwise must be one of free, got "constructor"',
  ],
  [
    'an unknown option',
    { limit: from({ free: 1 }, planOf, { fallback: 'free' }) },
    'limit by tiers: fallback is no option \\(otherwise\\), got "free"',
  ],
  [
    'options that are none',
    { limit: from({ free: 1 }, planOf, 'free') },
    'limit by tiers must have an object of options, got "free"',
  ],
  [
    'a limit too large for an exact log',
    { exact: true, limit: from({ free: 1, vip: 10_001 }, planOf) },
    'limit of tier "vip" must not be above 10000 where exact is true, got 10001',
  ],
  [
    'a cost above the limit of a tier',
    { cost: 5, limit: from({ free: 4, vip: 5 }, planOf) },
    'cost must not be above the limit of 4 of tier "free": no request .*, got 5',
  ],
  [
    'a cost of a tier above the limit',
    { cost: from({ free: 4, vip: 3 }, planOf), limit: 3 },
    'cost of tier "free" must not be above the limit of 3: no request .*, got 4',
  ],
  [
    'a cost above the limit of the same tier',
    { cost: from({ free: 4, vip: 5 }, planOf), limit: from({ free: 3, vip: 9 }, planOf) },
    'cost of tier "free" must not be above the limit of 3 of tier "free": no request .*, got 4',
  ],
];

describe('tiers that cannot work', () => {
  it.each(FAULTY)('fail the start, with class, method, option and value: %s', async (_, rule, message) => {
    expect(await startMessageOfRules([rule])).toMatch(new RegExp(`VoucherController\\.seckill: ${message}`));
  });

  it('fail the start with all that is wrong at once', async () => {
    const limit = from({ free: 0, vip: -1 }, planOf, { otherwise: 'gold' });
    const message = await startMessageOfRules([{ limit, window: from({ free: 'soon' }, planOf) }]);

    for (const fault of ['limit of tier "free"', 'limit of tier "vip"', 'otherwise', 'window of tier "free"'])
      expect(message).toContain(fault);
  });

  it('do not fail it for costs and limits that never meet', async () => {
    const rules: readonly RateLimitOptions[] = [
      { name: 'a', cost: tiers({ free: 1, vip: 5 }, planOf), limit: tiers({ free: 1, vip: 5 }, planOf) },
      { name: 'b', cost: tiers({ free: 5 }, planOf), limit: tiers({ free: 1 }, otherPlanOf) },
    ];
    expect(await startMessageOfRules(rules)).toBe('');
  });
});
