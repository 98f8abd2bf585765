import { describe, expect, it } from '@jest/globals';
import { standaloneRule, type StandaloneRule } from '../../src/nest/standalone-rule.ts';
import { ruleOf } from '../support/rules.ts';

const declared = ruleOf({ kind: 'user', place: 'bucket sms', isBucket: true, windowMs: 60_000 });
const ruleGiven = (options: StandaloneRule) => standaloneRule(options, {}, { rules: [declared], named: () => [] });

describe('a rule given to the service', () => {
  it('may ask for an exact log, where it has a limit that one holds', () => {
    expect(ruleGiven({ name: 'sms', limit: 500, exact: true })).toMatchObject({ limit: 500, layout: 'exact' });
    expect(ruleGiven({ name: 'sms', limit: 500 }).layout).toBeUndefined();
    expect(() => ruleGiven({ name: 'sms', limit: 10_001, exact: true })).toThrow('limit must not be above 10000');
  });
});

it('a rule given to the service cannot count by outcome, since there is none', () => {
  const options = { name: 'sms', limit: 5, count: 'failed' } as StandaloneRule;
  expect(() => ruleGiven(options)).toThrow('RateLimiter: count is no option of a rule given to it');
});

describe('a rule given to the service with the bucket of a declared one', () => {
  it('has its kind of identity when it names none, so both are one budget', () => {
    expect(ruleGiven({ bucket: 'sms', window: '1m', limit: 1 })).toMatchObject({ kind: 'user', place: 'bucket sms' });
  });

  it('is refused with another window or another kind, since it would be another budget', () => {
    const message = 'share the bucket sms, but not window, kind of identity and block';
    expect(() => ruleGiven({ bucket: 'sms', window: '2m' })).toThrow(message);
    expect(() => ruleGiven({ bucket: 'sms', window: '1m', type: 'IP' })).toThrow(message);
  });

  it('counts by the identity given when no declared rule has the bucket', () => {
    expect(ruleGiven({ bucket: 'mail', window: '1m' })).toMatchObject({ kind: 'key', place: 'bucket mail' });
  });
});
