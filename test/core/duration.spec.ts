import { describe, expect, it } from '@jest/globals';
import { durationMs, formatDuration, parseDuration } from '../../src/core/duration.ts';

describe('a duration', () => {
  it.each([
    [10, 10_000],
    [0.5, 500],
    [0.001, 1],
    ['10', 10_000],
    ['0.25', 250],
    ['500ms', 500],
    ['10s', 10_000],
    ['1.5s', 1_500],
    ['1m', 60_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    [3_600, 3_600_000],
    ['2h', 7_200_000],
    ['366d', 31_622_400_000],
  ])('%j is %d ms', (value, ms) => {
    expect(durationMs(value)).toBe(ms);
  });

  it.each([
    [0, 'at least 1'],
    [-1, 'must be seconds'],
    [NaN, 'must be seconds'],
    [Infinity, 'must be seconds'],
    [0.0001, 'whole number of milliseconds'],
    [0.0015, 'whole number of milliseconds'],
    [60_000, "counts seconds: write '2h', or '60000ms'"],
    ['60000', 'counts seconds'],
    ['367d', '366 days'],
    ['', 'must be seconds'],
    [' 10', 'must be seconds'],
    ['10 s', 'must be seconds'],
    ['10S', 'must be seconds'],
    ['1w', 'must be seconds'],
    ['1e3', 'must be seconds'],
    ['0x10', 'must be seconds'],
    ['٣s', 'must be seconds'],
    [undefined, 'must be seconds'],
    [null, 'must be seconds'],
    [{}, 'must be seconds'],
    [10n, 'must be seconds'],
  ])('%p is none, with a reason', (value, reason) => {
    expect(parseDuration(value)).toEqual({ fault: expect.stringContaining(reason) as unknown });
  });

  it('that is wrong throws with the value where one is needed', () => {
    expect(() => durationMs('1w')).toThrow('"1w" must be seconds');
  });

  it.each([
    [1_500, '1500ms'],
    [10_000, '10s'],
    [60_000, '1m'],
    [90_000, '90s'],
    [7_200_000, '2h'],
    [172_800_000, '2d'],
  ])('%d ms is spelled %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
    expect(durationMs(text)).toBe(ms);
  });
});
