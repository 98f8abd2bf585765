import { describe, expect, it } from '@jest/globals';
import type { Charge } from '../../src/core/charge.ts';
import { WindowLogs } from '../../src/memory/window-logs.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';

describe('logs that are told of admissions elsewhere', () => {
  const setUp = (maxKeys = 10) => {
    const clock = new ManualClock(1_000);
    const logs = new WindowLogs({ maxKeys, now: clock.now });
    const remaining = (budget: Charge): number => logs.peek([budget]).budgets[0]!.remaining;
    return { clock, logs, remaining };
  };

  it('counts in the window, by its own moments', () => {
    const { clock, logs, remaining } = setUp();
    const budget = charge({ limit: 10, windowMs: 100 });
    logs.include(budget, { part: 1, at: 950, units: 2 });
    logs.include(budget, { part: 2, at: 990, units: 3 });
    expect(remaining(budget)).toBe(5);
    clock.advance(50);
    expect(remaining(budget)).toBe(7);
    clock.advance(40);
    expect(remaining(budget)).toBe(10);
  });

  it('counts again when it is told of more of the same part', () => {
    const { logs, remaining } = setUp();
    const budget = charge({ limit: 10 });
    for (let i = 0; i < 2; i++) logs.include(budget, { part: 1, at: 1_000, units: 1 });
    expect(remaining(budget)).toBe(8);
  });

  it('takes back units of the part that they were included as of, and of no other', () => {
    const { logs, remaining } = setUp();
    const budget = charge({ limit: 10 });
    logs.include(budget, { part: 1, at: 999, units: 3 });
    logs.include(budget, { part: 2, at: 1_000, units: 3 });
    logs.exclude({ ...budget, cost: 2 }, 1);
    expect(remaining(budget)).toBe(6);
    logs.exclude({ ...budget, cost: 2 }, 1);
    logs.exclude(budget, 7);
    expect(remaining(budget)).toBe(7);
  });

  it('has room for keys that it tracks, for those that no client chooses, and for others up to its bound', () => {
    const { logs } = setUp(1);
    const [known, other, method] = [charge(), charge(), charge({ isAlwaysTracked: true })];
    expect(logs.hasRoomFor(other)).toBe(true);
    logs.consume({ id: 'a', charges: [known] });
    expect([known, other, method].map((budget) => logs.hasRoomFor(budget))).toEqual([true, false, true]);
  });
});

describe('a key of them', () => {
  it('counts while something of it is in its window, however many others have expired', () => {
    const clock = new ManualClock();
    const logs = new WindowLogs({ now: clock.now });
    const budgets = Array.from({ length: 10 }, () => charge({ windowMs: 100 }));
    const last = budgets.at(-1)!;
    expect(logs.counts(last)).toBe(false);
    for (const [i, budget] of budgets.entries()) logs.consume({ id: `c${i}`, charges: [budget] });
    clock.advance(99);
    expect([logs.counts(last), logs.counts({ ...last, windowMs: 200 })]).toEqual([true, false]);
    clock.advance(1);
    expect(logs.counts(last)).toBe(false);
  });
});
