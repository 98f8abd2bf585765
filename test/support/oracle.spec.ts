import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mostAdmittedInAnyWindow, type Admission } from './oracle.ts';

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
});
