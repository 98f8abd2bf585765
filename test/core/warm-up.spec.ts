import { describe, expect, it } from '@jest/globals';
import { mergeCharges } from '../../src/core/charge.ts';
import { Climb, type WarmUpState } from '../../src/core/climb.ts';
import { coldLimit, isSameWarmUp, strictestWarmUp } from '../../src/core/warm-up.ts';
import { charge } from '../contract/store-contract.ts';

const climb = (limit: number, coldFactor: number, overMs = 1_000): Climb =>
  new Climb({ limit, windowMs: 1_000 }, { overMs, coldFactor });
/** Of a log that is used in full. */
const usedSince = (moment: number, overMs: number): WarmUpState => ({
  usedUpAt: moment + 1.5 * overMs,
  idleFrom: Infinity,
});

describe('the effective limit', () => {
  it.each([
    [10, 3, 4],
    [9, 3, 3],
    [1, 100, 1],
    // Where the computer is above the whole number.
    [113, 1.13, 100],
    [57, 1.14, 50],
    [69, 1.15, 60],
  ])('of %d, cold by %d, is %d', (limit, coldFactor, cold) => {
    expect(coldLimit(limit, { overMs: 1, coldFactor })).toBe(cold);
    expect(climb(limit, coldFactor).limitAt(undefined, 0)).toBe(cold);
  });

  it.each([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.5, 2])('at %d of the time is that of the published formula', (share) => {
    const [limit, factor, overMs] = [1_000_000, 3, 10_000];
    const formula = limit / Math.sqrt(Math.max(1, factor ** 2 - (factor ** 2 - 1) * share));
    const found = climb(limit, factor, overMs).limitAt(usedSince(0, overMs), share * overMs);
    expect(found - formula).toBeGreaterThan(-0.001);
    expect(found - formula).toBeLessThanOrEqual(1);
  });

  it.each([1.01, 3, 50])(
    'never leaves the room from the cold limit to the limit, whatever the state (κ = %d)',
    (factor) => {
      const each = climb(90, factor);
      for (const usedUpAt of [-1e9, 0, 700, 1_500, 1e9]) {
        for (const idleFrom of [-1e9, 0, 1_000, 1e9]) {
          const found = each.limitAt({ usedUpAt, idleFrom }, 500);
          expect(found).toBeGreaterThanOrEqual(coldLimit(90, { overMs: 1, coldFactor: factor }));
          expect(found).toBeLessThanOrEqual(90);
        }
      }
    },
  );
});

describe('two warm-ups on one log', () => {
  const [long, low] = [
    { overMs: 2_000, coldFactor: 2 },
    { overMs: 1_000, coldFactor: 4 },
  ];

  it('come to the longer time and the lower beginning, and to the only one where there is one', () => {
    expect(strictestWarmUp(long, low)).toEqual({ overMs: 2_000, coldFactor: 4 });
    expect(strictestWarmUp(low, long)).toEqual({ overMs: 2_000, coldFactor: 4 });
    expect(strictestWarmUp(undefined, low)).toBe(low);
    expect(strictestWarmUp(long, undefined)).toBe(long);
    expect(strictestWarmUp(undefined, undefined)).toBeUndefined();
  });

  it('are the same where both parts are', () => {
    expect(isSameWarmUp(long, { ...long })).toBe(true);
    expect(isSameWarmUp(undefined, undefined)).toBe(true);
    expect(isSameWarmUp(long, { ...long, overMs: 1 })).toBe(false);
    expect(isSameWarmUp(long, { ...long, coldFactor: 3 })).toBe(false);
    expect(isSameWarmUp(long, undefined)).toBe(false);
  });

  it('make the log compact where its limit is too large to be read through', () => {
    const exact = charge({ limit: 1_000, layout: 'exact' });
    const climbing = { ...exact, layout: undefined, warmUp: low };
    expect(mergeCharges([exact, climbing]).merged).toEqual([{ ...exact, layout: 'compact', warmUp: low }]);
    expect(mergeCharges([{ ...exact, limit: 128 }, climbing]).merged).toMatchObject([{ layout: 'exact', limit: 128 }]);
  });
});
