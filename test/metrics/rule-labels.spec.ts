import { describe, expect, it } from '@jest/globals';
import { RuleLabels } from '../../src/metrics/rule-labels.ts';

const NAMES = { rule: 'rule', place: 'place' };
const other = { rule: 'other', place: 'other' };

describe('the labels of rules', () => {
  it('are the rule and its place, under the names given', () => {
    const labels = new RuleLabels([], { rule: 'floodgate.rule', place: 'floodgate.place' });
    expect(labels.of('login', 'POST /login')).toEqual({ 'floodgate.rule': 'login', 'floodgate.place': 'POST /login' });
  });

  it('tell a thousand apart besides the declared ones, and count the others together', () => {
    const declared = { label: 'declared', place: 'GET /' };
    const labels = new RuleLabels([declared], NAMES);
    for (let i = 0; i < 1_000; i++) {
      const set = { rule: `rule ${i % 2}`, place: `name ${i}` };
      expect(labels.of(set.rule, set.place)).toEqual(set);
    }
    expect(labels.of('rule 0', 'one more')).toEqual(other);
    expect(labels.of('one more', 'name 0')).toEqual(other);
    expect(labels.of('declared', 'GET /')).toEqual({ rule: 'declared', place: 'GET /' });
    for (const i of [0, 1, 999]) {
      const set = { rule: `rule ${i % 2}`, place: `name ${i}` };
      expect(labels.of(set.rule, set.place)).toEqual(set);
    }
  });

  it('do not run together where rule and place do', () => {
    const labels = new RuleLabels([], NAMES);
    expect(labels.of('a b', 'c')).toEqual({ rule: 'a b', place: 'c' });
    expect(labels.of('a', 'b c')).toEqual({ rule: 'a', place: 'b c' });
  });

  it('are the same object each time, so that none is made for each decision', () => {
    const labels = new RuleLabels([], NAMES);
    expect(labels.of('a', 'b')).toBe(labels.of('a', 'b'));
  });
});
