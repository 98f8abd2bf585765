import { describe, expect, it } from '@jest/globals';
import type { Charge } from '../../src/core/charge.ts';
import type { RefundRequest } from '../../src/core/rate-limit-store.ts';
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

describe('a compact log of them', () => {
  // At the end of a slice; the slices are 10 ms.
  const setUp = () => {
    const clock = new ManualClock(1_000);
    const logs = new WindowLogs({ now: clock.now });
    const budget = charge({ limit: 5, windowMs: 1_000, layout: 'compact' });
    const consume = (id: string, ...charges: readonly Charge[]): RefundRequest => {
      const decision = logs.consume({ id, charges });
      if (!decision.allowed) throw new Error(`${id} was refused`);
      return { id, charges, receipt: decision.receipt };
    };
    const remaining = (of = budget): number => logs.peek([of]).budgets[0]!.remaining;
    return { clock, logs, budget, consume, remaining };
  };

  it('counts its units as admitted at the end of their slice', () => {
    const { clock, logs, budget, consume, remaining } = setUp();
    clock.advance(1);
    const decision = logs.consume({ id: 'a', charges: [budget] });
    expect(decision).toMatchObject({ budgets: [{ remaining: 4, resetAfterMs: 1_009 }], receipt: '1001000' });
    clock.advance(8.5);
    consume('b', budget);
    consume('c', { ...budget, cost: 2 });
    expect(logs.peek([{ ...budget, cost: 2 }])).toMatchObject({ allowed: false, retryAfterMs: 1_001 });
    clock.advance(1_000.25);
    expect(remaining()).toBe(1);
    clock.advance(0.25);
    expect(remaining()).toBe(5);
  });

  it('counts a unit that is admitted at the end of a slice from there, as exact logs count all', () => {
    const { logs, budget } = setUp();
    for (const layout of ['compact', 'exact'] as const) {
      const decision = logs.consume({ id: layout, charges: [charge({ ...budget, key: layout, layout })] });
      expect(decision.budgets).toMatchObject([{ resetAfterMs: 1_000 }]);
    }
    const exact = charge({ windowMs: 1_000 });
    const [late] = [new WindowLogs({ now: () => 1_003 }).consume({ id: 'a', charges: [exact] })];
    expect(late!.budgets).toMatchObject([{ resetAfterMs: 1_000 }]);
  });

  it('is one entry for each slice, whatever the number of calls', () => {
    const { clock, logs, budget, consume } = setUp();
    for (const id of ['a', 'b']) consume(id, budget);
    clock.advance(1);
    consume('c', budget);
    expect(['a', 'b', 'c'].map((id) => logs.records(budget, id))).toEqual([false, false, false]);
    expect(logs.peek([{ ...budget, cost: 4 }])).toMatchObject({ allowed: false, retryAfterMs: 999 });
    expect(logs.peek([{ ...budget, cost: 5 }])).toMatchObject({ allowed: false, retryAfterMs: 1_009 });
  });

  it('gives a call back once, whatever is decided in between', () => {
    const { clock, logs, budget, consume, remaining } = setUp();
    const mine = consume('mine', budget);
    for (const id of ['a', 'b']) consume(id, budget);
    logs.refund(mine);
    expect(remaining()).toBe(3);
    logs.refund(mine);
    clock.advance(20);
    consume('c', budget);
    logs.refund(mine);
    expect(remaining()).toBe(2);
  });

  it('gives nothing back of calls from before it was made', () => {
    const { clock, logs, budget, consume, remaining } = setUp();
    clock.advance(1);
    const before = consume('before', budget);
    logs.reset([budget]);
    clock.advance(1);
    consume('after', { ...budget, cost: 2 });
    logs.refund(before);
    expect(remaining()).toBe(3);
  });

  it('is not charged by a call that an exact log beside it knows', () => {
    const { logs, budget, consume, remaining } = setUp();
    const small = charge({ limit: 5, windowMs: 1_000 });
    consume('again', budget, small);
    const { receipt } = consume('again', budget, small);
    expect([remaining(), remaining(small), receipt]).toEqual([4, 4, undefined]);
    logs.refund({ id: 'again', charges: [budget, small] });
    expect([remaining(), remaining(small)]).toEqual([4, 5]);
  });

  it('leaves nothing free, and owes nothing, when the limit shrinks below what is taken', () => {
    const { budget, consume, remaining } = setUp();
    consume('a', { ...budget, cost: 4 });
    expect(remaining({ ...budget, limit: 3 })).toBe(0);
  });

  it('is no log of its key any more when its last call was given back', () => {
    const { logs, budget, consume } = setUp();
    logs.refund(consume('mine', budget));
    expect(logs.size).toBe(0);
  });
});
