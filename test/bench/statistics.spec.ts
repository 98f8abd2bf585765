import { describe, expect, it } from '@jest/globals';
import { median, quantile, quartiles, slope } from './statistics.ts';

describe('statistics', () => {
  it('takes the value in the middle, or the mean of the two there', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('takes the least value that a share of all is at or below', () => {
    const sorted = Array.from({ length: 100 }, (_, i) => i + 1);
    expect(quantile(sorted, 0.5)).toBe(50);
    expect(quantile(sorted, 0.99)).toBe(99);
    expect(quantile([7], 0.99)).toBe(7);
  });

  it('finds the middle half', () => {
    expect(quartiles([8, 1, 4, 2, 6, 3, 7, 5])).toEqual([2, 6]);
  });

  it('finds by how much a line grows, whatever lies beside it', () => {
    expect(
      slope([
        [0, 1],
        [1, 3],
        [2, 5],
      ]),
    ).toBeCloseTo(2);
    expect(
      slope([
        [0, 5],
        [1, 6],
        [2, 5],
        [3, 6],
        [4, 5],
      ]),
    ).toBeCloseTo(0);
  });
});
