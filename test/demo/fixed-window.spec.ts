import { describe, expect, it } from '@jest/globals';
import { fixedWindow } from './fixed-window.ts';

const decisions = (times: readonly number[]): readonly boolean[] => times.map(fixedWindow(2, 10_000));

describe('A fixed window', () => {
  it('admits up to its limit', () => {
    expect(decisions([0, 1, 2, 9_999])).toEqual([true, true, false, false]);
  });

  it('starts anew at every whole window of the clock, whenever its requests came', () => {
    expect(decisions([9_998, 9_999, 10_000, 10_001, 10_002])).toEqual([true, true, true, true, false]);
  });
});
