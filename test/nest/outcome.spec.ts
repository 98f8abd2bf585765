import { describe, expect, it } from '@jest/globals';
import { isCounted, layoutFor, type OutcomeCount } from '../../src/nest/outcome.ts';

describe('which outcomes a rule counts', () => {
  it.each<[OutcomeCount, boolean, boolean]>([
    ['all', true, true],
    ['failed', true, false],
    ['succeeded', false, true],
    [({ status }) => status === 401, true, false],
  ])('%s: a failure %j, a success %j', (count, failure, success) => {
    expect(isCounted(count, { failed: true, status: 401 })).toBe(failure);
    expect(isCounted(count, { failed: false, status: 200 })).toBe(success);
  });

  it.each([
    ['a promise', async () => true],
    ['a promise that is rejected', () => Promise.reject(new Error('late'))],
    ['a number', () => 1],
    ['nothing', () => undefined],
  ])('is not said by %s', (_, count) => {
    expect(() => isCounted(count as unknown as OutcomeCount, { failed: true })).toThrow(TypeError);
  });
});

describe('the log of a rule that counts by outcome', () => {
  it.each([
    ['failed', 10_000, 1, 'exact'],
    ['failed', 500, 128, 'exact'],
    ['failed', 10_001, 1, undefined],
    ['failed', 500, 129, undefined],
    ['failed', () => 500, 1, undefined],
    ['failed', 500, () => 1, undefined],
    ['all', 500, 1, undefined],
  ] as const)('of %s, limit %s and cost %s is %s where it can be', (count, limit, cost, layout) => {
    expect(layoutFor(count, limit, cost)).toBe(layout);
  });
});
