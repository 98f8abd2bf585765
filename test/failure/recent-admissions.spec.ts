import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge } from '../../src/core/charge.ts';
import { RecentAdmissions } from '../../src/failure/recent-admissions.ts';
import { charge } from '../contract/store-contract.ts';

// A part of this window is 20 ms long, and one begins at this moment.
const WINDOW_MS = 160;
const START = 1_600_000;
const budget = charge({ limit: 50, windowMs: WINDOW_MS });

const unitsOf = (recent: RecentAdmissions, of: Charge, now: number): number =>
  recent.drain(of, now).reduce((sum, { units }) => sum + units, 0);

describe('what a store admitted lately', () => {
  it('is handed out once, by parts of the window, each at its end or now', () => {
    const recent = new RecentAdmissions();
    for (const ms of [0, 19.75, 20, 45]) recent.record([budget], START + ms);
    const [first, second, third, ...others] = recent.drain(budget, START + 50);
    expect(others).toEqual([]);
    expect([first!.units, second!.units, third!.units]).toEqual([2, 1, 1]);
    expect(first!.at).toBeCloseTo(START + 20, 2);
    expect(second!.at).toBeCloseTo(START + 40, 2);
    expect(third!.at).toBe(START + 50);
    expect(recent.drain(budget, START + 50)).toEqual([]);
  });

  it('counts once, with the largest cost, where charges share a log', () => {
    const recent = new RecentAdmissions();
    const other = charge({ cost: 3 });
    recent.record([{ ...budget, cost: 2 }, { ...budget, cost: 5, limit: 10 }, other], START);
    expect([unitsOf(recent, budget, START), unitsOf(recent, other, START)]).toEqual([5, 3]);
  });

  it('knows nothing of what took nothing', () => {
    const recent = new RecentAdmissions();
    const free = { ...budget, cost: 0 };
    recent.record([free], START);
    expect(recent.drain(budget, START)).toEqual([]);
    recent.record([budget], START);
    recent.giveBack({ id: 'a', charges: [free] }, START, START);
    recent.giveBack({ id: 'a', charges: [budget] }, START, START);
    expect(recent.drain(budget, START)).toEqual([]);
  });

  it('counts equal keys of different windows apart', () => {
    const recent = new RecentAdmissions();
    recent.record([budget, { ...budget, windowMs: 1_000 }], START);
    expect(unitsOf(recent, budget, START)).toBe(1);
    expect(unitsOf(recent, { ...budget, windowMs: 1_000 }, START)).toBe(1);
  });

  it('counts no shorter than the window, and no longer than an eighth of it beyond', () => {
    const moments = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 });
    const windows = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(windows, fc.nat(1_000_000), moments, (windowMs, start, gaps) => {
        const recent = new RecentAdmissions();
        const [of, admitted] = [charge({ limit: 50, windowMs }), [] as number[]];
        let now = start / 7;
        for (const gap of gaps) {
          now += gap * windowMs * 0.5;
          admitted.push(now);
          recent.record([of], now);
        }
        now += gaps[0]! * windowMs;
        const live = recent.drain(of, now).filter(({ at }) => at > now - windowMs);
        const counted = live.reduce((sum, { units }) => sum + units, 0);
        const youngerThan = (ms: number): number => admitted.filter((at) => at > now - ms).length;
        expect(counted).toBeGreaterThanOrEqual(youngerThan(windowMs));
        expect(counted).toBeLessThanOrEqual(youngerThan((windowMs * 9) / 8 + 0.002));
        expect(live.map(({ at }) => at)).toEqual(live.map(({ at }) => at).sort((a, b) => a - b));
      }),
      { numRuns: 500 },
    );
  });

  it('stays small while keys come and go, and while one is used for ever', () => {
    const recent = new RecentAdmissions();
    let now = START;
    for (let i = 0; i < 1_000_000; i++) {
      if (i % 10 === 0) now += 1;
      recent.record([charge({ key: `k${i % 500_000}`, windowMs: WINDOW_MS })], now);
    }
    for (let i = 0; i < 10_000; i++) recent.record([budget], (now += 20));
    expect(recent.drain(budget, now).length).toBeLessThanOrEqual(9);
  });

  it('has no room for new keys beyond a hundred thousand counts, but for those that no client chooses', () => {
    const recent = new RecentAdmissions();
    for (let i = 0; i < 100_000; i++) recent.record([charge({ key: `k${i}`, windowMs: WINDOW_MS })], START);
    const method = charge({ isAlwaysTracked: true, windowMs: WINDOW_MS });
    recent.record([budget, method], START);
    recent.record([charge({ key: 'k7', windowMs: WINDOW_MS })], START);
    expect([unitsOf(recent, budget, START), unitsOf(recent, method, START)]).toEqual([0, 1]);
    recent.record([charge({ key: 'k7', windowMs: WINDOW_MS })], START + 20);
    expect(unitsOf(recent, charge({ key: 'k7', windowMs: WINDOW_MS }), START + 20)).toBe(3);
  });

  it('has no more room where the counts lie in several parts of the window', () => {
    const recent = new RecentAdmissions();
    const of = (i: number): Charge => charge({ key: `k${i}`, windowMs: WINDOW_MS });
    for (let i = 0; i < 100_000; i++) recent.record([of(i)], START + (i % 5) * 0.001 + Math.floor(i / 25_000) * 20);
    const now = START + 80;
    expect(recent.record([budget], now)).toBe(false);
    expect(recent.record([of(7)], now)).toBe(true);
    expect(unitsOf(recent, of(7), now)).toBe(2);
  });

  it('has room for a thousand windows of different lengths, and for others when one of them is over', () => {
    const recent = new RecentAdmissions();
    const ofWindow = (windowMs: number): Charge => ({ ...budget, windowMs });
    for (let i = 0; i < 1_000; i++) recent.record([ofWindow(1_000 + i)], START);
    expect(recent.record([ofWindow(5_000)], START)).toBe(false);
    expect(unitsOf(recent, ofWindow(5_000), START)).toBe(0);
    expect(recent.record([ofWindow(5_000)], START + 3_000)).toBe(true);
    expect(unitsOf(recent, ofWindow(5_000), START + 3_000)).toBe(1);
  });

  it('has room again when parts of any window are over', () => {
    const recent = new RecentAdmissions();
    for (let i = 0; i < 100_000; i++) recent.record([charge({ key: `k${i}`, windowMs: 80 })], START);
    recent.record([budget], START + 200);
    expect(unitsOf(recent, budget, START + 200)).toBe(1);
  });
});

describe('what is given back of it', () => {
  const record = (recent: RecentAdmissions, cost: number, at: number) => recent.record([{ ...budget, cost }], at);
  const giveBack = (recent: RecentAdmissions, id: string, cost: number, at: number, now = at) =>
    recent.giveBack({ id, charges: [{ ...budget, cost }] }, at, now);

  it.each([
    ['in the same part', 3],
    ['at the border of the next part', 20],
    ['parts later', 57.25],
  ])('is its own units only, %s', (_, afterMs) => {
    const recent = new RecentAdmissions();
    record(recent, 2, START);
    record(recent, 3, START);
    record(recent, 7, START + afterMs);
    giveBack(recent, 'a', 2, START);
    expect(unitsOf(recent, budget, START + afterMs)).toBe(10);
  });

  it('is given back once', () => {
    const recent = new RecentAdmissions();
    for (let i = 0; i < 3; i++) record(recent, 1, START);
    for (let i = 0; i < 3; i++) giveBack(recent, 'a', 1, START);
    giveBack(recent, 'b', 1, START);
    expect(unitsOf(recent, budget, START)).toBe(1);
  });

  it('is nothing when it has left the window', () => {
    const recent = new RecentAdmissions();
    record(recent, 1, START);
    record(recent, 1, START + 2 * WINDOW_MS);
    giveBack(recent, 'a', 1, START, START + 2 * WINDOW_MS);
    expect(unitsOf(recent, budget, START + 2 * WINDOW_MS)).toBe(1);
  });

  it('is nothing when it has left the window though its part has not', () => {
    const recent = new RecentAdmissions();
    record(recent, 1, START);
    record(recent, 1, START + 19);
    giveBack(recent, 'a', 1, START, START + WINDOW_MS + 2);
    expect(unitsOf(recent, budget, START + WINDOW_MS + 2)).toBe(2);
  });

  it('is told when it was handed out, once, and taken from nothing that was counted since', () => {
    const recent = new RecentAdmissions();
    record(recent, 1, START);
    recent.drain(budget, START);
    record(recent, 1, START + 1);
    const drained = giveBack(recent, 'a', 1, START);
    expect(drained).toMatchObject([{ charge: { key: budget.key }, part: START / 20 }]);
    expect(giveBack(recent, 'a', 1, START)).toEqual([]);
    expect(unitsOf(recent, budget, START + 1)).toBe(1);
  });

  it('is nothing where the call is counted elsewhere, now or later', () => {
    const recent = new RecentAdmissions();
    record(recent, 2, START);
    const request = { id: 'a', charges: [budget] };
    expect(recent.giveBack(request, START, START, () => true)).toEqual([]);
    expect(recent.giveBack(request, START, START)).toEqual([]);
    expect(unitsOf(recent, budget, START)).toBe(2);
  });

  it('is counted on where too many calls were given back already, in whatever part and window', () => {
    const recent = new RecentAdmissions();
    const [one, other] = [charge({ windowMs: 8_000 }), charge({ windowMs: 80_000 })];
    for (let i = 0; i < 100_000; i++) {
      const at = START + (i % 2) * 1_000;
      recent.record([one], at);
      recent.giveBack({ id: `c${i}`, charges: [one] }, at, START + 1_000);
    }
    recent.record([other], START + 1_000);
    recent.giveBack({ id: 'late', charges: [other] }, START + 1_000, START + 1_000);
    expect(recent.drain(other, START + 1_000)).toMatchObject([{ units: 1 }]);
  });

  it('is given back again when the parts of those that were too many are over', () => {
    const recent = new RecentAdmissions();
    for (let i = 0; i < 100_000; i++) {
      recent.record([budget], START);
      recent.giveBack({ id: `c${i}`, charges: [budget] }, START, START);
    }
    const later = START + 2 * WINDOW_MS;
    for (let i = 0; i < 2; i++) record(recent, 1, later);
    giveBack(recent, 'mine', 1, later);
    expect(unitsOf(recent, budget, later)).toBe(1);
  });

  it('frees its room', () => {
    const recent = new RecentAdmissions();
    for (let i = 0; i < 100_000; i++) recent.record([charge({ key: `k${i}`, windowMs: WINDOW_MS })], START);
    recent.giveBack({ id: 'a', charges: [charge({ key: 'k7', windowMs: WINDOW_MS })] }, START, START);
    record(recent, 1, START);
    expect(unitsOf(recent, budget, START)).toBe(1);
  });
});
