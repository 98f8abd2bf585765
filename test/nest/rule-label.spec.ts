import { describe, expect, it } from '@jest/globals';
import type { RateLimitOptions } from 'nestjs-floodgate';
import { compileRule } from '../../src/nest/compile-rule.ts';
import type { Rule } from '../../src/nest/rule.ts';

function compiled(options: RateLimitOptions, defaults: Partial<RateLimitOptions> = {}): Rule {
  const faults: string[] = [];
  const standing = { writtenOn: 'CatsController.list', place: 'GET /cats' };
  const rule = compileRule(options, standing, defaults, (fault) => faults.push(fault));
  expect(faults).toEqual([]);
  return rule!;
}

describe('the label of a rule', () => {
  it.each<[string, RateLimitOptions]>([
    ['20-per-10s', {}],
    ['10-per-10s', { window: 10, limit: 10 }],
    ['10-per-10s', { window: '10000ms', limit: '10' }],
    ['1-per-500ms', { window: 0.5, limit: 1 }],
    ['5-per-1500ms', { window: '1.5s', limit: 5 }],
    ['100-per-1m', { window: 60, limit: 100 }],
    ['100-per-90s', { window: 90, limit: 100 }],
    ['1000-per-1h', { window: 3_600, limit: 1_000 }],
    ['10000-per-1d', { window: '24h', limit: 10_000 }],
    ['dynamic-per-10s', { limit: () => 5 }],
    ['20-per-dynamic', { window: () => 5 }],
    ['front-door', { name: 'front-door', limit: 5 }],
    ['5-per-10s', { bucket: 'shared', limit: 5 }],
  ])('is %s', (label, options) => {
    expect(compiled(options).label).toBe(label);
  });
});

describe('a rule', () => {
  it('has the defaults that the README promises', () => {
    expect(compiled({})).toMatchObject({
      kind: 'method',
      windowMs: 10_000,
      limit: 20,
      cost: 1,
      when: 'afterGuards',
      message: 'Too many requests, please try again later.',
    });
  });

  it('takes what it does not say from the defaults of the module', () => {
    const defaults = { window: '1m', limit: '7', cost: 2, type: 'IP', message: 'no', onStoreError: 'deny' } as const;

    expect(compiled({ limit: 9 }, defaults)).toMatchObject({
      kind: 'ip',
      windowMs: 60_000,
      limit: 9,
      cost: 2,
      message: 'no',
      onStoreError: 'deny',
    });
  });

  it('counts by its key whatever type the defaults have', () => {
    expect(compiled({ key: () => 'x' }, { type: 'IP' })).toMatchObject({ kind: 'key', when: undefined });
  });

  it.each<[RateLimitOptions, Rule['when']]>([
    [{ type: 'METHOD' }, 'afterGuards'],
    [{ type: 'USER' }, 'afterGuards'],
    [{ type: 'IP' }, 'beforeGuards'],
    [{ type: 'IP', when: 'afterGuards' }, 'afterGuards'],
    [{ type: 'METHOD', when: 'beforeGuards' }, 'beforeGuards'],
    [{ key: () => 'x', when: 'afterGuards' }, 'afterGuards'],
  ])('%j is decided %s', (options, when) => {
    expect(compiled(options).when).toBe(when);
  });

  it('is told apart in keys by its name, and in a bucket by the bucket alone', () => {
    expect(compiled({ name: 'a' })).toMatchObject({ place: 'GET /cats', suffix: 'a', isBucket: false });
    expect(compiled({})).toMatchObject({ place: 'GET /cats', suffix: '', isBucket: false });
    expect(compiled({ name: 'a', bucket: 'b' })).toMatchObject({ place: 'bucket b', suffix: '', isBucket: true });
  });
});
