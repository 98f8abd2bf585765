import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mostAdmittedInAnyWindow, mostSurelyAdmittedInAnyWindow, type Admission } from './oracle.ts';

describe('the oracle', () => {
  it('counts what lies in (t − W, t]: both ends of a window are not in it together', () => {
    const at = (...times: readonly number[]) => times.map((time) => ({ at: time, units: 1 }));
    expect(mostAdmittedInAnyWindow(at(0, 10), 10)).toBe(1);
    expect(mostAdmittedInAnyWindow(at(0, 9.999), 10)).toBe(2);
    expect(mostAdmittedInAnyWindow(at(5, 5, 5), 10)).toBe(3);
    expect(mostAdmittedInAnyWindow([], 10)).toBe(0);
  });

  it('finds what trying every window finds', () => {
    const admissions = fc.array(fc.record({ at: fc.nat(200), units: fc.integer({ min: 1, max: 5 }) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(admissions, fc.integer({ min: 1, max: 60 }), (record: Admission[], length) => {
        const inWindow = (end: number): number =>
          record.reduce((sum, { at, units }) => (at > end - length && at <= end ? sum + units : sum), 0);
        const ends = Array.from({ length: 201 }, (_, end) => end);
        expect(mostAdmittedInAnyWindow(record, length)).toBe(Math.max(...ends.map(inWindow)));
      }),
    );
  });

  it('counts only what lies in one window for certain, where moments are known within bounds', () => {
    const between = (...bounds: readonly (readonly [number, number])[]) =>
      bounds.map(([from, to]) => ({ from, to, units: 1 }));
    expect(mostSurelyAdmittedInAnyWindow(between([0, 1], [9, 11]), 10)).toBe(1);
    expect(mostSurelyAdmittedInAnyWindow(between([2, 3], [9, 11]), 10)).toBe(2);
    expect(mostSurelyAdmittedInAnyWindow(between([0, 20], [9, 11], [8, 9]), 10)).toBe(2);
    expect(mostSurelyAdmittedInAnyWindow([], 10)).toBe(0);
  });
});
