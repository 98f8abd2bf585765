import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Budget } from 'nestjs-floodgate';
import { legacyHeaders, retryAfterHeader, wholeSeconds } from '../../src/transports/rate-limit-headers.ts';

const budgetOf = (limit: number, remaining: number, resetAfterMs: number): Budget => ({
  key: 'k',
  windowMs: 10_000,
  cost: 1,
  limit,
  remaining,
  resetAfterMs,
});
const fields = (limit: number, remaining: number, resetSeconds: number) => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(resetSeconds),
});

describe('X-RateLimit fields', () => {
  it.each<[string, readonly Budget[], object]>([
    ['are none without a budget', [], {}],
    ['tell of the one budget, in seconds rounded up', [budgetOf(5, 3, 9_001)], fields(5, 3, 10)],
    ['tell of a whole budget that there is nothing to wait for', [budgetOf(5, 5, 0)], fields(5, 5, 0)],
    ['tell of the budget with the fewest units left', [budgetOf(5, 3, 9_000), budgetOf(9, 2, 1_000)], fields(9, 2, 1)],
    ['tell of it wherever it stands', [budgetOf(9, 2, 1_000), budgetOf(5, 3, 9_000)], fields(9, 2, 1)],
    ['tell of the longest reset among equals', [budgetOf(5, 0, 1_000), budgetOf(9, 0, 2_000)], fields(9, 0, 2)],
    ['tell of it, too, wherever it stands', [budgetOf(9, 0, 2_000), budgetOf(5, 0, 1_000)], fields(9, 0, 2)],
    ['tell of the first among the same', [budgetOf(5, 0, 1_000), budgetOf(9, 0, 1_000)], fields(5, 0, 1)],
  ])('%s', (_, budgets, expected) => {
    expect(legacyHeaders(budgets)).toEqual(expected);
  });
});

describe('Retry-After', () => {
  it.each([
    [1, '1'],
    [999, '1'],
    [1_000, '1'],
    [1_001, '2'],
    [59_999, '60'],
    [86_400_000, '86400'],
  ])('for %i ms is %s', (retryAfterMs, seconds) => {
    expect(retryAfterHeader({ retryAfterMs })).toEqual({ 'Retry-After': seconds });
  });

  it('is at least a second, though there is nothing to wait for', () => {
    expect(retryAfterHeader({ retryAfterMs: 0 })).toEqual({ 'Retry-After': '1' });
  });

  it('is absent when no waiting helps', () => {
    expect(retryAfterHeader({})).toEqual({});
  });

  it('is never too early, and never a second too late', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 366 * 86_400_000 }), (retryAfterMs) => {
        const early = Number(retryAfterHeader({ retryAfterMs })['Retry-After']) * 1_000 - retryAfterMs;
        expect(early).toBeGreaterThanOrEqual(0);
        expect(early).toBeLessThan(1_000);
      }),
    );
  });
});

describe('whole seconds', () => {
  it('are written without a fraction or an exponent', () => {
    expect(String(wholeSeconds(366 * 86_400_000))).toBe('31622400');
  });
});
