import { describe, expect, it } from '@jest/globals';
import { violations, type Sample } from './verdict.ts';

const MEGABYTE = 1_048_576;
const HANDLES = { before: ['TCPSocketWrap', 'Timeout'], after: ['TCPSocketWrap', 'Timeout', 'Timeout'] };

/** Ten minutes, in which each figure is what the minute makes of it. */
const soaked = (figures: (minute: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 10 }, (_, minute) => ({
    minutes: minute,
    heapBytes: 20 * MEGABYTE,
    redisBytes: 2 * MEGABYTE,
    p99Ms: 4,
    ...figures(minute),
  }));

describe('the verdict on a soak', () => {
  it('passes what stays as it is, whatever happened in the first third', () => {
    expect(
      violations(
        soaked((minute) => ({ heapBytes: (minute === 0 ? 5 : 20) * MEGABYTE })),
        HANDLES,
      ),
    ).toEqual([]);
  });

  it.each<[string, (minute: number) => Partial<Sample>]>([
    ['the heap grew by 3.00 MB', (minute) => ({ heapBytes: (20 + minute / 2) * MEGABYTE })],
    ['Redis grew by 1.50 MB', (minute) => ({ redisBytes: (2 + minute / 4) * MEGABYTE })],
    ['p99 went from 30.0 ms to 100.0 ms', (minute) => ({ p99Ms: minute < 5 ? 30 : 100 })],
  ])('says that %s', (sentence, figures) => {
    expect(violations(soaked(figures), HANDLES)).toEqual([expect.stringContaining(sentence)]);
  });

  it('says that handles were left', () => {
    const after = Array.from({ length: 9 }, () => 'TCPSocketWrap');
    expect(
      violations(
        soaked(() => ({})),
        { before: HANDLES.before, after },
      ),
    ).toEqual(['there were 1 TCPSocketWrap, and in the end 9']);
  });
});
