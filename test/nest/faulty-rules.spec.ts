import { describe, expect, it } from '@jest/globals';
import { RateLimitConfigurationError, type RateLimitOptions } from 'nestjs-floodgate';
import { rootModule } from '../support/limited-app.ts';
import { startErrorOf, startMessageOfRules, voucherController } from '../support/start-error.ts';

const LONG = 'n'.repeat(65);

/** Option and value. */
const FAULTY: readonly (readonly [string, unknown])[] = [
  ['window', 0],
  ['window', -1],
  ['window', NaN],
  ['window', Infinity],
  ['window', 0.0001],
  ['window', 3_601],
  ['window', 10_000],
  ['window', ''],
  ['window', ' 10'],
  ['window', 'soon'],
  ['window', '10 s'],
  ['window', '-5s'],
  ['window', '1e3'],
  ['window', '0ms'],
  ['window', '1.5ms'],
  ['window', '3601'],
  ['window', '367d'],
  ['window', true],
  ['window', null],
  ['window', []],
  ['limit', 0],
  ['limit', -1],
  ['limit', 1.5],
  ['limit', NaN],
  ['limit', Infinity],
  ['limit', 1_000_000_001],
  ['limit', '1000000001'],
  ['limit', ''],
  ['limit', '0'],
  ['limit', '1.5'],
  ['limit', ' 5'],
  ['limit', '1e3'],
  ['limit', '0x10'],
  ['limit', 'ten'],
  ['limit', true],
  ['limit', null],
  ['limit', [5]],
  ['limit', 5n],
  ['cost', -1],
  ['cost', 0.5],
  ['cost', NaN],
  ['cost', 1_000_000_001],
  ['cost', '1000000001'],
  ['exact', 'yes'],
  ['count', 'some'],
  ['count', true],
  ['count', null],
  ['count', ['failed']],
  ['exact', 1],
  ['cost', 'much'],
  ['cost', null],
  ['type', 'ip'],
  ['type', 'constructor'],
  ['type', ''],
  ['type', 1],
  ['type', null],
  ['key', 'tenant'],
  ['key', null],
  ['key', {}],
  ['message', ''],
  ['message', 42],
  ['message', null],
  ['name', ''],
  ['name', 'two words'],
  ['name', 'a:b'],
  ['name', 'a{b}'],
  ['name', 'é'],
  ['name', LONG],
  ['name', 42],
  ['bucket', ''],
  ['bucket', 'two words'],
  ['bucket', 'a}'],
  ['bucket', LONG],
  ['bucket', 42],
  ['block', true],
  ['block', 5],
  ['block', null],
  ['block', []],
  ['skip', true],
  ['skip', 'always'],
  ['when', 'early'],
  ['when', 'BEFORE_GUARDS'],
  ['onStoreError', 'open'],
  ['onStoreError', null],
  ['mode', 'off'],
  ['mode', true],
  ['mode', null],
  ['enforcePercent', -1],
  ['enforcePercent', 100.1],
  ['enforcePercent', NaN],
  ['enforcePercent', '10%'],
  ['enforcePercent', ''],
  ['enforcePercent', '1e1'],
  ['enforcePercent', true],
  ['enforcePercent', null],
  ['ttl', 60],
  ['Limit', 5],
];

const shown = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'bigint' ? String(value) : JSON.stringify(value);

describe('a rule that cannot work', () => {
  it.each(FAULTY)('fails the start: %s %j', async (option, value) => {
    const message = await startMessageOfRules([{ [option]: value }]);

    expect(message).toContain(`VoucherController.seckill: ${option} `);
    expect(message).toContain(`got ${shown(value)}`);
  });

  it.each([
    ['text', 'strict'],
    ['a number', 5],
    ['nothing', null],
    ['a list of rules', [{ limit: 5 }]],
    ['an empty list', []],
  ])('fails the start: %s in place of an object', async (_, rule) => {
    expect(await startMessageOfRules([rule])).toContain('VoucherController.seckill: ');
  });

  it.each([
    ['a share of a METHOD rule', { enforcePercent: 5 }, 'enforcePercent is a share of identities, .* METHOD .*got 5'],
    ['a share in shadow', { enforcePercent: 5, type: 'IP', mode: 'shadow' }, 'enforcePercent excludes mode .*got 5'],
  ])('fails the start: %s', async (_, rule, message) => {
    expect(await startMessageOfRules([rule])).toMatch(new RegExp(`VoucherController\\.seckill: ${message}`));
  });

  it.each([
    { enforcePercent: 5, type: 'IP' },
    { enforcePercent: '0.5', key: () => 'x' },
    { enforcePercent: 0, type: 'USER' },
  ])('is none: a share of identities, %j', async (rule) => {
    expect(await startMessageOfRules([rule], { defaults: { mode: 'shadow' } })).toBe('');
  });

  it('fails the start: type beside key', async () => {
    expect(await startMessageOfRules([{ type: 'IP', key: () => 'x' }])).toMatch(
      /VoucherController\.seckill: type .*key.*got "IP"/,
    );
  });

  it.each<[number | string | undefined, number | string]>([
    [5, 6],
    ['5', '6'],
    [undefined, 21],
  ])('fails the start: a limit of %s and a cost of %s', async (limit, cost) => {
    expect(await startMessageOfRules([{ limit, cost }])).toMatch(
      new RegExp(`VoucherController\\.seckill: cost .*limit of ${limit ?? 20}.*got "?${cost}`),
    );
  });

  it.each<[RateLimitOptions, string]>([
    [{ exact: true, limit: 10_001 }, 'limit must not be above 10000 where exact is true, got 10001'],
    [{ exact: true, limit: 500, cost: 129 }, 'cost must not be above 128 where exact is true: no request'],
    [{ exact: true, limit: 100, cost: 101 }, 'cost must not be above the limit of 100: no request'],
    [{ limit: 1_000, cost: 1_001 }, 'cost must not be above the limit of 1000: no request'],
  ])('says what exact logs do not hold, and what never passes: %j', async (rule, message) => {
    expect(await startMessageOfRules([rule])).toContain(message);
  });

  it.each<[string, object, string | number | undefined]>([
    ['after', { after: 0 }, 0],
    ['after', { after: 1.5 }, 1.5],
    ['after', { after: undefined }, undefined],
    ['within', { within: 'soon' }, '"soon"'],
    ['within', { within: 60_000 }, 60_000],
    ['for', { for: 0 }, 0],
    ['for', { for: '400d' }, '"400d"'],
    ['until', { until: 'noon' }, '"noon"'],
  ])('fails the start: a block with a wrong %s, %j', async (option, other, shownValue) => {
    const block = { after: 5, within: '1m', for: '10m', ...other };
    const message = await startMessageOfRules([{ type: 'IP', block }]);
    expect(message).toContain(`VoucherController.seckill: block.${option} `);
    expect(message).toContain(`got ${shownValue}`);
  });

  it('names every fault of a block', async () => {
    expect(await startMessageOfRules([{ type: 'IP', block: {} }])).toMatch(/in 3 places/);
  });

  it.each([{}, { type: 'METHOD' }])('fails the start: a block of everybody, %j', async (rule) => {
    const block = { after: 5, within: '1m', for: '10m' };
    expect(await startMessageOfRules([{ ...rule, block }])).toMatch(
      /VoucherController\.seckill: block needs type IP or USER, or a key.*got \{"after":5/,
    );
  });

  it('says how to write a window that looks like milliseconds', async () => {
    expect(await startMessageOfRules([{ window: 10_000 }])).toContain("'10000ms'");
  });

  it('lists the options that there are beside one that there is not', async () => {
    expect(await startMessageOfRules([{ ttl: 60 }])).toMatch(/window, limit, type, key/);
  });

  it('is shown in a few characters, whatever its length', async () => {
    expect((await startMessageOfRules([{ limit: 'x'.repeat(1_000_000) }])).length).toBeLessThan(500);
  });

  it('is named by its place in the list of the module', async () => {
    const message = await startMessageOfRules([], { rules: [{ limit: 5 }, { limit: 0, window: '1m' }] });

    expect(message).toContain('forRoot rules[1]: limit must be a whole number from 1 to 1000000000, got 0');
  });

  it('is reported together with every fault of every other rule', async () => {
    const module = rootModule({
      controllers: [voucherController({ limit: 0, window: 'soon' }, { cost: -1, window: '1m' })],
      options: { rules: [{ name: 'a b' }], headers: 'none', keyPrefix: '{', guard: 'auto' as 'manual' },
    });
    const error = (await startErrorOf(module)) as RateLimitConfigurationError;

    expect(error).toBeInstanceOf(RateLimitConfigurationError);
    expect(error.message).toMatch(/^Rate limiting is misconfigured in 6 places:\n/);
    expect([...error.faults].sort()).toEqual([
      expect.stringMatching(/^VoucherController\.seckill: cost .*got -1/),
      expect.stringMatching(/^VoucherController\.seckill: limit .*got 0/),
      expect.stringMatching(/^VoucherController\.seckill: window .*got "soon"/),
      expect.stringMatching(/^forRoot rules\[0\]: name .*got "a b"/),
      expect.stringMatching(/^option guard .*got "auto"/),
      expect.stringMatching(/^option keyPrefix .*got "\{"/),
    ]);
  });

  it('fails the start of an application whose limits are switched off, too', async () => {
    expect(await startMessageOfRules([{ limit: 0 }], { enabled: false })).toContain('VoucherController.seckill: limit');
  });
});

describe('a rule that can work', () => {
  it.each<[RateLimitOptions]>([
    [{}],
    [{ window: 0.5 }],
    [{ window: 3_600 }],
    [{ window: '10' }],
    [{ window: '0.25' }],
    [{ window: '1ms' }],
    [{ window: '1.5s' }],
    [{ window: '24h' }],
    [{ window: '366d' }],
    [{ limit: 10_000 }],
    [{ limit: '10000' }],
    [{ limit: '007' }],
    [{ limit: 100, cost: 100 }],
    [{ limit: '5', cost: '5' }],
    [{ type: 'USER' }],
    [{ type: 'IP', block: { after: '5', within: 60, for: '1h' } }],
    [{ key: () => 'a', block: { after: 1, within: '1ms', for: '366d' } }],
    [{ name: 'n'.repeat(64) }],
    [{ name: 'log-in_v1.2' }],
    [{ message: '秒杀活动太火爆，请稍后再试' }],
    [{ window: undefined, limit: undefined, type: undefined, key: undefined, name: undefined }],
    [{ window: () => 0, limit: () => 0, cost: () => 0 }],
    [{ limit: () => 1, cost: 100 }],
  ])('starts: %j', async (rule) => {
    expect(await startMessageOfRules([rule])).toBe('');
  });
});
