import { describe, expect, it } from '@jest/globals';
import {
  assertCharges,
  isAffordable,
  layoutOf,
  maxCostOf,
  mergeCharges,
  type Charge,
  type LogLayout,
} from '../../src/core/charge.ts';
import { charge } from '../contract/store-contract.ts';

describe('the layout of a log', () => {
  it.each<[number, LogLayout | undefined, LogLayout]>([
    [1, undefined, 'exact'],
    [128, undefined, 'exact'],
    [129, undefined, 'compact'],
    [129, 'exact', 'exact'],
    [10_000, 'exact', 'exact'],
    [1, 'compact', 'compact'],
  ])('for a limit of %d, where the charge says %s, is %s', (limit, layout, expected) => {
    expect(layoutOf({ limit, layout })).toBe(expected);
  });

  it.each<[Partial<Charge>, number]>([
    [{ limit: 100 }, 100],
    [{ limit: 128 }, 128],
    [{ limit: 129 }, 129],
    [{ limit: 500, layout: 'exact' }, 128],
    [{ limit: 1_000_000_000 }, 1_000_000_000],
  ])('bounds the cost: of %j, %d units are taken at once, and no more', (overrides, most) => {
    const budget = charge(overrides);
    expect(maxCostOf(budget)).toBe(most);
    expect(isAffordable({ ...budget, cost: most })).toBe(true);
    expect(isAffordable({ ...budget, cost: most + 1 })).toBe(false);
  });

  it.each<[LogLayout | undefined, number]>([
    ['exact', 10_000],
    ['compact', 1_000_000_000],
    [undefined, 1_000_000_000],
  ])('bounds the limit: %s, %d', (layout, most) => {
    expect(() => assertCharges([charge({ layout, limit: most })])).not.toThrow();
    expect(() => assertCharges([charge({ layout, limit: most + 1 })])).toThrow(`limit must be 1 to ${most}`);
  });

  it('is one of two', () => {
    expect(() => assertCharges([charge({ layout: 'large' as LogLayout })])).toThrow('layout must be exact or compact');
  });

  it.each<[LogLayout | undefined, LogLayout | undefined, LogLayout | undefined]>([
    ['exact', 'compact', 'exact'],
    ['compact', 'exact', 'exact'],
    ['compact', undefined, 'compact'],
    [undefined, 'compact', 'compact'],
    [undefined, 'exact', 'exact'],
    [undefined, undefined, undefined],
  ])('of charges on one log that say %s and %s is %s', (one, other, expected) => {
    const budget = charge({ limit: 500, layout: one });
    const { merged } = mergeCharges([budget, { ...budget, limit: 400, layout: other }]);
    expect(merged).toEqual([{ ...budget, limit: 400, layout: expected }]);
  });
});
