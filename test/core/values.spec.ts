import { describe, expect, it } from '@jest/globals';
import { callIds } from '../../src/core/call-id.ts';
import { assertCallId, mergeCharges } from '../../src/core/charge.ts';
import { show } from '../../src/core/show.ts';
import { parseWholeNumber } from '../../src/core/whole-number.ts';
import { charge } from '../contract/store-contract.ts';

describe('call ids', () => {
  it('are short, and different within a source and between sources', () => {
    const sources = Array.from({ length: 20 }, () => callIds());
    const ids = sources.flatMap((next) => Array.from({ length: 2_000 }, next));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      assertCallId(id);
      expect(id.length).toBeGreaterThanOrEqual(8);
      expect(id.length).toBeLessThanOrEqual(10);
    }
  });
});

describe('a whole number', () => {
  it.each([
    [1, 1],
    [20, 20],
    ['7', 7],
    ['007', 7],
  ])('%j is %d', (value, number) => {
    expect(parseWholeNumber(value, 20)).toEqual({ value: number });
  });

  it.each([0, -1, 21, 1.5, NaN, Infinity, '', ' 7', '7.0', '1e1', '0x1', true, null, undefined, [], [7], 7n])(
    '%p is none from 1 to 20',
    (value) => {
      expect(parseWholeNumber(value, 20)).toEqual({ fault: 'must be a whole number from 1 to 20' });
    },
  );
});

describe('merging charges', () => {
  it('leaves different logs apart and remembers where each charge went', () => {
    const [a, b] = [charge({ limit: 5, cost: 2 }), charge()];
    const tighter = { ...a, limit: 3, cost: 1 };
    const { merged, places } = mergeCharges([a, b, tighter, { ...a, windowMs: 5 }]);
    expect(merged).toEqual([{ ...a, limit: 3, cost: 2 }, b, { ...a, windowMs: 5 }]);
    expect(places).toEqual([0, 1, 0, 2]);
  });
});

describe('showing a value', () => {
  it.each([
    ['a\nb\u0000', '"a\\nb\\u0000"'],
    [NaN, 'NaN'],
    [undefined, 'undefined'],
    [10n, '10'],
    [{ a: 1 }, '{"a":1}'],
    [Symbol('s'), 'Symbol(s)'],
    [Symbol('a\nb'), 'Symbol(a\\u000ab)'],
    ['\u202e\u009b\u2028', '"\\u202e\\u009b\\u2028"'],
    ['\u{e0041}', '"\\udb40\\udc41"'],
    [function named() {}, 'function named'],
  ])('%p is shown on one line', (value, text) => {
    expect(show(value)).toBe(text);
  });

  it('survives what JSON cannot say, and bounds what is long', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(show(circular)).toBe('object');
    expect(show('x'.repeat(1_000_000)).length).toBeLessThan(100);
    expect(show('\u202e'.repeat(1_000_000)).length).toBeLessThan(500);
    expect(show(`${'x'.repeat(78)}😀`)).toMatch(/x\\ud83d…$/);
  });
});
