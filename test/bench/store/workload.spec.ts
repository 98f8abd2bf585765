import { describe, expect, it } from '@jest/globals';
import { keyNumber, keysTouched, type Workload } from './workload.ts';

const rule = { limit: 3, windowMs: 1_000 };
const admitted: Workload = { name: 'admitted', rule, keys: 2, expected: 'admitted' };
const refused: Workload = { name: 'refused', rule, keys: 2, expected: 'refused' };
const keysOf = (workload: Workload, decisions: number): readonly number[] =>
  Array.from({ length: decisions }, (_, i) => keyNumber(i, workload));

describe('a workload', () => {
  it('asks for its keys in turn, and for new ones when their limit is used up', () => {
    expect(keysOf(admitted, 8)).toEqual([0, 1, 0, 1, 0, 1, 2, 3]);
  });

  it('stays with its keys where they are to be refused', () => {
    expect(keysOf(refused, 8)).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
  });

  it.each([admitted, refused])('knows how many keys decisions were about: $name', (workload) => {
    for (const decisions of [0, 1, 2, 5, 6, 7, 8, 20]) {
      expect(keysTouched(decisions, workload)).toBe(new Set(keysOf(workload, decisions)).size);
    }
  });
});
