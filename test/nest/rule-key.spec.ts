import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Identity } from '../../src/nest/identity.ts';
import { ruleKey } from '../../src/nest/rule-key.ts';
import type { Rule } from '../../src/nest/rule.ts';
import { ruleOf } from '../support/rules.ts';

const address: Identity = { kind: 'ip', value: '203.0.113.7' };
const everybody = (place: string): Identity => ({ kind: 'method', value: place });

describe('the key of a budget', () => {
  it.each<[string, Partial<Rule>, Identity]>([
    ['{ip:203.0.113.7}:POST /login', { place: 'POST /login' }, address],
    ['{ip:2001:db8::/64}:POST /login', { place: 'POST /login' }, { kind: 'ip', value: '2001:db8::/64' }],
    ['{user:alice}:GET /cats/:id', { place: 'GET /cats/:id' }, { kind: 'user', value: 'alice' }],
    ['{anon-user:203.0.113.7}:GET /cats', {}, { kind: 'anon-user', value: '203.0.113.7' }],
    ['{anon-key:203.0.113.7}:GET /cats', {}, { kind: 'anon-key', value: '203.0.113.7' }],
    ['{key:acme}:bucket tenants', { place: 'bucket tenants', isBucket: true }, { kind: 'key', value: 'acme' }],
    ['{method:GET /cats}', {}, everybody('GET /cats')],
    ['{method:application}', { place: 'application' }, everybody('application')],
    ['{ip:203.0.113.7}:GET /files/%7B*path%7D', { place: 'GET /files/{*path}' }, address],
    ['{method:GET /files/%7B*path%7D}', { place: 'GET /files/{*path}' }, everybody('GET /files/{*path}')],
  ])('is %s', (key, rule, identity) => {
    expect(ruleKey(ruleOf(rule), identity)).toBe(key);
  });

  it.each<[Partial<Rule>, Identity]>([
    [{ place: 'POST /login', suffix: 'door' }, address],
    [{ place: 'POST /login', suffix: 'door' }, everybody('POST /login')],
  ])('ends with the name that the user gave the rule', (rule, identity) => {
    expect(ruleKey(ruleOf(rule), identity)).toMatch(/[^\w]door$/);
  });

  it('in shadow ends so that no enforced rule has the same', () => {
    const [unnamed, named] = [ruleOf({ place: 'POST /login' }), ruleOf({ place: 'POST /login', suffix: 'door' })];
    expect(ruleKey(unnamed, address, true)).toBe('{ip:203.0.113.7}:POST /login#~shadow');
    expect(ruleKey(named, address, true)).toBe('{ip:203.0.113.7}:POST /login#door~shadow');
    const hostile = ruleOf({ place: 'POST /login#~shadow' });
    expect(ruleKey(hostile, address)).not.toBe(ruleKey(unnamed, address, true));
  });

  it('has nothing of the limit, so that a changed limit keeps its history', () => {
    expect(ruleKey(ruleOf({ limit: 5, label: '5-per-10s' }), address)).toBe(ruleKey(ruleOf({ limit: 6 }), address));
  });

  it('of a named rule at one place is not that of an unnamed one at another', () => {
    // `@Get()` with a rule named "id", and `@Get(':id')`.
    expect(ruleKey(ruleOf({ place: 'GET /', suffix: 'id' }), address)).not.toBe(
      ruleKey(ruleOf({ place: 'GET /:id' }), address),
    );
  });

  it('of a place with a brace is not that of one that spells the brace out', () => {
    expect(ruleKey(ruleOf({ place: 'GET /{a' }), address)).not.toBe(ruleKey(ruleOf({ place: 'GET /%7Ba' }), address));
  });

  it('differs for any two places and names', () => {
    const place = fc.stringMatching(/^GET \/[a:#{%]{0,2}$/);
    const suffix = fc.stringMatching(/^a?$/);
    const standing = fc.record({ place, suffix });
    fc.assert(
      fc.property(standing, standing, fc.boolean(), (one, other, isMethod) => {
        const keyOf = (parts: typeof one) => ruleKey(ruleOf(parts), isMethod ? everybody(parts.place) : address);
        const isSame = one.place === other.place && one.suffix === other.suffix;
        expect(keyOf(one) === keyOf(other)).toBe(isSame);
      }),
      { numRuns: 5_000 },
    );
  });
});
