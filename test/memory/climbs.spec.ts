import { describe, expect, it } from '@jest/globals';
import type { Charge } from '../../src/core/charge.ts';
import { Climbs } from '../../src/memory/climbs.ts';
import { charge } from '../contract/store-contract.ts';

const OVER_MS = 1_000;
const keyed = (key: string, overrides: Partial<Charge> = {}): Charge =>
  charge({ key, limit: 9, windowMs: 100, warmUp: { overMs: OVER_MS, coldFactor: 3 }, ...overrides });

/** Uses it up until this moment. */
const warm = (climbs: Climbs, budget: Charge, until: number): void => {
  for (let now = 0; now <= until; now += 10) climbs.admit(budget, 0, now);
};
const limitOf = (climbs: Climbs, budget: Charge, now: number): number => climbs.read(budget, undefined, now).remaining;

describe('the climbs that a process knows', () => {
  it('are so many at most, and that which was not used for longest is forgotten first', () => {
    const climbs = new Climbs(2);
    const [a, b, c] = ['a', 'b', 'c'].map((key) => keyed(key)) as [Charge, Charge, Charge];
    for (const budget of [a, b]) warm(climbs, budget, 2_000);
    climbs.admit(a, 0, 2_000);
    climbs.admit(c, 0, 2_000);
    expect(climbs.size).toBe(2);
    expect([a, b, c].map((budget) => limitOf(climbs, budget, 2_000))).toEqual([9, 3, 3]);
  });

  it('are not forgotten for those that take longer or shorter', () => {
    const climbs = new Climbs(1);
    const [known, other] = [keyed('a'), keyed('b', { warmUp: { overMs: 2_000, coldFactor: 3 } })];
    warm(climbs, known, 2_000);
    climbs.admit(other, 0, 2_000);
    expect(climbs.size).toBe(1);
    expect(limitOf(climbs, known, 2_000)).toBe(9);
  });

  it('have room for keys that no client chooses, which are never forgotten for others', () => {
    const climbs = new Climbs(1);
    const own = keyed('own', { isAlwaysTracked: true });
    climbs.admit(keyed('a'), 0, 0);
    warm(climbs, own, 2_000);
    for (let i = 0; i < 5; i++) climbs.admit(keyed(`k${i}`), 0, 2_000);
    expect(limitOf(climbs, own, 2_000)).toBe(9);
  });

  it('are swept away once they are cold, faster than they come', () => {
    const climbs = new Climbs(1_000);
    for (let i = 0; i < 100; i++) climbs.admit(keyed(`old${i}`), 0, 0);
    expect(climbs.size).toBe(100);
    // What one admission takes, and the time in which it cools.
    const coldAt = OVER_MS + 105;
    for (let i = 0; i < 50; i++) climbs.admit(keyed(`new${i}`), 0, coldAt);
    expect(climbs.size).toBe(50);
  });

  it('stay until they are cold', () => {
    const climbs = new Climbs(1_000);
    const budget = keyed('a');
    warm(climbs, budget, 2_000);
    for (let i = 0; i < 50; i++) climbs.admit(keyed(`k${i}`), 0, 2_000 + OVER_MS * 0.4);
    expect(limitOf(climbs, budget, 2_000 + OVER_MS * 0.4)).toBe(9);
  });

  it('are none of charges without a warm-up, or that take nothing', () => {
    const climbs = new Climbs(10);
    climbs.admit(keyed('a', { warmUp: undefined }), 0, 0);
    climbs.admit(keyed('b', { cost: 0 }), 0, 0);
    expect(climbs.size).toBe(0);
  });

  it('leave nothing behind when they are forgotten', () => {
    const climbs = new Climbs(10);
    warm(climbs, keyed('a'), 2_000);
    climbs.forget([keyed('a'), keyed('never'), keyed('b', { warmUp: undefined })]);
    expect(climbs.size).toBe(0);
    expect(limitOf(climbs, keyed('a'), 2_000)).toBe(3);
  });
});
