import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Budget, Denied } from 'nestjs-floodgate';
import { draftHeaders } from '../../src/transports/draft-headers.ts';

const budgetOf = (parts: Partial<Budget> = {}): Budget => ({
  key: 'k',
  rule: 'login-ip',
  windowMs: 60_000,
  cost: 1,
  limit: 20,
  remaining: 7,
  resetAfterMs: 11_001,
  ...parts,
});

/** A List of Items with parameters, as RFC 9651 has them, so far as the draft uses it; undefined when it is none. */
function parseList(field: string): readonly { name: string; parameters: Record<string, string> }[] | undefined {
  const item = /^"((?:[ !#-[\]-~]|\\["\\])*)"((?:;[a-z]+=(?:\d{1,15}|:[A-Za-z0-9+/=]*:))*)(?:, |$)/;
  const items = [];
  let rest = field;
  while (rest !== '') {
    const match = item.exec(rest);
    if (!match) return undefined;
    const parameters = match[2]!
      .split(';')
      .slice(1)
      .map((parameter) => parameter.split(/=(.*)/s).slice(0, 2));
    items.push({ name: match[1]!, parameters: Object.fromEntries(parameters) as Record<string, string> });
    rest = rest.slice(match[0].length);
  }
  return items;
}

describe('the fields of the draft', () => {
  it('tell of each budget: quota and window, units left and seconds to the reset', () => {
    expect(
      draftHeaders([budgetOf(), budgetOf({ rule: 'login-user', limit: 200, windowMs: 3_600_000, remaining: 199 })]),
    ).toEqual({
      'RateLimit-Policy': '"login-ip";q=20;w=60, "login-user";q=200;w=3600',
      RateLimit: '"login-ip";r=7;t=12, "login-user";r=199;t=12',
    });
  });

  it('are none without a budget', () => {
    expect(draftHeaders([])).toEqual({});
  });

  it('round windows up, since they count seconds', () => {
    expect(draftHeaders([budgetOf({ windowMs: 500 })])['RateLimit-Policy']).toBe('"login-ip";q=20;w=1');
    expect(draftHeaders([budgetOf({ windowMs: 1_001 })])['RateLimit-Policy']).toBe('"login-ip";q=20;w=2');
  });

  it('never point beyond Retry-After', () => {
    const budget = budgetOf({ remaining: 0, resetAfterMs: 50_000 });
    const denied: Denied = { allowed: false, budgets: [budget], refusedBy: [budget], retryAfterMs: 3_000 };
    expect(draftHeaders([budget], denied).RateLimit).toBe('"login-ip";r=0;t=3');
  });

  it('tell apart rules that look alike', () => {
    const alike = budgetOf({ rule: '10-per-10s' });
    expect(draftHeaders([alike, alike]).RateLimit).toBe('"10-per-10s";r=7;t=12, "10-per-10s-2";r=7;t=12');
  });

  it('escape and replace what a String of RFC 9651 cannot hold', () => {
    expect(draftHeaders([budgetOf({ rule: 'a"b\\c\u00e9\n' })]).RateLimit).toBe('"a\\"b\\\\c??";r=7;t=12');
  });

  it('carry a partition key when one is asked for', () => {
    expect(draftHeaders([budgetOf()], undefined, () => 'cGs=')).toEqual({
      'RateLimit-Policy': '"login-ip";q=20;w=60;pk=:cGs=:',
      RateLimit: '"login-ip";r=7;t=12;pk=:cGs=:',
    });
  });

  it('are lists of RFC 9651, whatever names and numbers there are', () => {
    const budgets = fc.array(
      fc.record({
        rule: fc.string({ unit: 'binary' }),
        limit: fc.integer({ min: 1 }),
        remaining: fc.nat(),
        windowMs: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        resetAfterMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(budgets, (parts) => {
        const fields = draftHeaders(parts.map(budgetOf));
        expect(parseList(fields['RateLimit-Policy']!)).toHaveLength(parts.length);
        expect(parseList(fields.RateLimit!)).toHaveLength(parts.length);
      }),
    );
  });
});
