import { describe, expect, it } from '@jest/globals';
import { ruleConflicts } from '../../src/nest/rule-conflicts.ts';
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
    ['of which one has a bucket', { place: 'bucket shared' }, bucket],
  ])('%s do not conflict', (_, one, other) => {
    expect(conflictsOf(one, other)).toEqual([]);
  });

  it.each<[string, Partial<Rule>, Partial<Rule>]>([
    ['of one place, kind and window', {}, { limit: 5 }],
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
  ])('of one bucket that disagree in %s conflict', (_, other) => {
    expect(conflictsOf(bucket, { ...bucket, ...other })).toEqual([
      'CatsController.list (rule-1) and CatsController.list (rule-0) share the bucket shared, but not window and kind ' +
        'of identity',
    ]);
  });

  it('are told of every conflict', () => {
    expect(conflictsOf({}, {}, {}, { ...bucket, kind: 'ip' }, bucket)).toHaveLength(3);
  });
});
