import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isEnforcedFor } from '../../src/nest/enforced-share.ts';
import type { Identity } from '../../src/nest/identity.ts';
import type { Rule } from '../../src/nest/rule.ts';
import { ruleOf } from '../support/rules.ts';

const ipRule = (enforcePercent: number, parts: Partial<Rule> = {}): Rule =>
  ruleOf({ kind: 'ip', enforcePercent, ...parts });
const user = (value: string): Identity => ({ kind: 'user', value });
const people = Array.from({ length: 20_000 }, (_, i) => user(`user-${i}`));
const shareOf = (rule: Rule): number => people.filter((each) => isEnforcedFor(rule, each)).length / people.length;

describe('the share of identities that a rule is enforced for', () => {
  it.each([0, 0.5, 5, 12.5, 50, 99, 100])('is %d %% of them', (percent) => {
    // Four standard deviations of a sample of this size are 1.5 % at most.
    expect(Math.abs(shareOf(ipRule(percent)) * 100 - percent)).toBeLessThan(1.5);
  });

  it('is nobody at 0, and everybody at 100', () => {
    expect([shareOf(ipRule(0)), shareOf(ipRule(100))]).toEqual([0, 1]);
  });

  it('grows with the percentage, and nobody leaves it', () => {
    const percent = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(percent, percent, fc.string({ minLength: 1 }), (one, other, value) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        const isEnforcedMore = isEnforcedFor(ipRule(more), user(value));
        expect(isEnforcedFor(ipRule(less), user(value)) && !isEnforcedMore).toBe(false);
      }),
    );
  });

  it('is the same people in every version and process', () => {
    const enforced = people.slice(0, 20).filter((each) => isEnforcedFor(ipRule(30), each));
    expect(enforced.map(({ value }) => value)).toMatchInlineSnapshot(`
     [
       "user-0",
       "user-10",
       "user-13",
       "user-14",
       "user-15",
       "user-16",
     ]
    `);
  });

  it('is other people for another rule, by its name, or its place where it has none', () => {
    const togetherOf = (one: Rule, other: Rule): number =>
      people.filter((each) => isEnforcedFor(one, each) === isEnforcedFor(other, each)).length / people.length;
    const here = ipRule(50);
    const there = ipRule(50, { place: 'GET /dogs' });

    expect(togetherOf(here, there)).toBeCloseTo(0.5, 1);
    expect(togetherOf(here, ipRule(50, { name: 'reads' }))).toBeCloseTo(0.5, 1);
    expect(togetherOf(ipRule(50, { name: 'reads' }), { ...there, name: 'reads' })).toBe(1);
    expect(togetherOf(here, ipRule(50, { limit: 5, windowMs: 1 }))).toBe(1);
    // Rules of one bucket share budgets, whatever they are called.
    const bucket = { isBucket: true, place: 'bucket mail' };
    expect(togetherOf(ipRule(50, { ...bucket, name: 'a' }), ipRule(50, { ...bucket, name: 'b' }))).toBe(1);
  });

  it('tells kinds of identities apart', () => {
    const address = (value: string): Identity => ({ kind: 'ip', value });
    const agreeing = people.filter(
      (each) => isEnforcedFor(ipRule(50), each) === isEnforcedFor(ipRule(50), address(each.value)),
    );
    expect(agreeing.length / people.length).toBeCloseTo(0.5, 1);
  });
});
