import { describe, expect, it } from '@jest/globals';
import { bucketConflicts, ruleConflicts } from '../../src/nest/rule-conflicts.ts';
import type { Rule } from '../../src/nest/rule.ts';
import { ruleOf } from '../support/rules.ts';

const conflictsOf = (...rules: readonly Partial<Rule>[]): readonly string[] =>
  ruleConflicts(rules.map((parts, i) => ruleOf({ label: `rule-${i}`, ...parts })));

const bucket = { isBucket: true, place: 'bucket shared' } as const;
const dynamic = () => 1_000;

describe('rules', () => {
  it.each<[string, Partial<Rule>, Partial<Rule>]>([
    ['at different places', { place: 'GET /a' }, { place: 'GET /b' }],
    ['of different kinds', { kind: 'ip' }, { kind: 'user' }],
    ['of different windows', { windowMs: 1_000 }, { windowMs: 2_000 }],
    ['of different names', { suffix: 'a' }, { suffix: 'b' }],
    ['of which one has a name', { suffix: 'a' }, {}],
    ['whose windows are found by different functions', { windowMs: dynamic }, { windowMs: () => 1_000 }],
    ['of one bucket that agree', { ...bucket, limit: 1 }, { ...bucket, limit: 2 }],
    ['of different buckets', bucket, { ...bucket, place: 'bucket other', windowMs: 1_000 }],
    ['of which one is in shadow', {}, { enforcePercent: 0 }],
    ['of one bucket of which one is in shadow', bucket, { ...bucket, enforcePercent: 0, windowMs: 1 }],
    ['of which one has a bucket', { place: 'bucket shared' }, bucket],
  ])('%s do not conflict', (_, one, other) => {
    expect(conflictsOf(one, other)).toEqual([]);
  });

  it.each<[string, Partial<Rule>, Partial<Rule>]>([
    ['of one place, kind and window', {}, { limit: 5 }],
    ['that are both in shadow', { enforcePercent: 0 }, { enforcePercent: 0 }],
    ['of which one is in shadow for some', { enforcePercent: 0 }, { enforcePercent: 50 }],
    ['of which one is enforced for some', {}, { enforcePercent: 50 }],
    ['of one name besides', { suffix: 'a' }, { suffix: 'a' }],
    ['whose windows are found by one function', { windowMs: dynamic }, { windowMs: dynamic }],
  ])('%s conflict', (_, one, other) => {
    expect(conflictsOf(one, other)).toEqual([
      'CatsController.list (rule-1) and CatsController.list (rule-0) limit the same identity at "GET /cats" over the ' +
        'same window: give them different names, or one bucket',
    ]);
  });

  it.each<[string, Partial<Rule>]>([
    ['window', { windowMs: 1_000 }],
    ['kind of identity', { kind: 'ip' }],
    ['kind of window', { windowMs: dynamic }],
    ['block', { block: { after: 1, withinMs: 1_000, forMs: 1_000 } }],
  ])('of one bucket that disagree in %s conflict', (_, other) => {
    expect(conflictsOf(bucket, { ...bucket, ...other })).toEqual([
      'CatsController.list (rule-1) and CatsController.list (rule-0) share the bucket shared, but not window, kind ' +
        'of identity and block',
    ]);
  });

  it('are told of every conflict', () => {
    expect(conflictsOf({}, {}, {}, { ...bucket, kind: 'ip' }, bucket)).toHaveLength(3);
  });
});

describe('rules of one bucket on one handler', () => {
  const together = (...rules: readonly Partial<Rule>[]): readonly string[] =>
    bucketConflicts(rules.map((parts, i) => ruleOf({ label: `rule-${i}`, ...bucket, ...parts })));

  it.each<[string, Partial<Rule>, Partial<Rule>]>([
    ['with limits that all their costs fit in', { limit: 5, cost: 3 }, { limit: 100, cost: 5 }],
    ['whose numbers are found for each request', { limit: () => 1 }, { cost: () => 5 }],
    ['when they are of different buckets', { limit: 1 }, { place: 'bucket other', limit: 9, cost: 9 }],
    ['when they are of no bucket', { isBucket: false, limit: 1 }, { isBucket: false, limit: 9, cost: 9 }],
  ])('can be judged together %s', (_, one, other) => {
    expect(together(one, other)).toEqual([]);
  });

  it('cannot when one costs more than another admits: no request would ever pass', () => {
    const faults = together({ limit: 5 }, { limit: 100, cost: 10 });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('costs more than the other admits');
  });

  it('cannot at different moments: one request would be charged twice', () => {
    expect(together({ when: 'beforeGuards' }, { when: 'afterGuards' })).toEqual([expect.stringContaining('moment')]);
  });
});
