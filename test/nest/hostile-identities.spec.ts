import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { RateLimit } from 'nestjs-floodgate';
import { identityInKey, type Identity } from '../../src/nest/identity.ts';
import { ruleKey } from '../../src/nest/rule-key.ts';
import { useApps } from '../support/limited-app.ts';
import { useRedis } from '../support/redis.ts';
import { ruleOf } from '../support/rules.ts';

const MEGABYTE = 'x'.repeat(1_000_000);
const HOSTILE: readonly string[] = [
  'alice',
  'alice ',
  'Alice',
  'alice:GET /hostile:10000',
  'alice}:GET /hostile',
  '}',
  '{',
  '{}',
  '{alice}',
  'alice}{bob',
  '%',
  '%7B',
  '\0',
  'alice\0',
  'alice\n',
  'alice\r\nSET x y',
  '*',
  '?',
  '[a-z]',
  '\\',
  '\\0',
  '"',
  "'",
  '__proto__',
  'constructor',
  'toString',
  'undefined',
  'null',
  'NaN',
  'é',
  'e\u0301',
  '😀',
  '\ud83d',
  '\ude00',
  '\ud83e',
  '\ufffd',
  '\u202e',
  '秒杀',
  ' ',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(66),
  MEGABYTE,
  `${MEGABYTE}y`,
];

const hashed = (value: string): string => identityInKey({ kind: 'user', value }).replace('user:', '');
const IMITATIONS = ['\0', '{alice}', '😀', MEGABYTE].flatMap((value) => [
  hashed(value),
  hashed(value).slice(1),
  createHash('sha256').update(value).digest('base64url'),
]);

/** What Redis Cluster hashes of a key. */
const hashTag = (key: string): string => /\{([^}]+)\}/.exec(key)?.[1] ?? key;

let identity = '';

@Controller()
class HostileController {
  @RateLimit({ limit: 1, window: '1m', key: () => identity })
  @Get('hostile')
  get() {}
}

describe('identities that clients choose', () => {
  const redis = useRedis();
  const start = useApps();

  it('each have a budget of their own, in process and in Redis', async () => {
    const all = [...HOSTILE, ...IMITATIONS];
    for (const options of [{}, { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' }]) {
      const app = await start('express', { controllers: [HostileController], options });
      for (identity of all) expect([identity, await app.statuses(1, '/hostile')]).toEqual([identity, [200]]);
      for (identity of all) expect([identity, await app.statuses(1, '/hostile')]).toEqual([identity, [429]]);
    }

    expect(await redis.keys()).toHaveLength(all.length);
  });

  it.each([...HOSTILE, ...IMITATIONS].map((value) => [value.slice(0, 40), value]))(
    'cannot leave their part of the key: %j',
    (_, value) => {
      const key = ruleKey(ruleOf({ kind: 'user', place: 'GET /hostile' }), { kind: 'user', value });

      expect(key).toMatch(/^\{user:[\x21-\x7e]+\}:GET \/hostile$/);
      expect(hashTag(key)).toBe(identityInKey({ kind: 'user', value }));
      expect(key.length).toBeLessThan(100);
    },
  );
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme-ascii', minLength: 60, maxLength: 70 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(...HOSTILE, ...IMITATIONS),
);
const anyIdentity: fc.Arbitrary<Identity> = fc.record({
  kind: fc.constantFrom('ip', 'user', 'key', 'anon-user', 'anon-key'),
  value: anyText,
});

describe('the key of any identity', () => {
  it('differs from that of every other', () => {
    fc.assert(
      fc.property(anyIdentity, anyIdentity, (one, other) => {
        const isSame = one.kind === other.kind && one.value === other.value;
        expect(identityInKey(one) === identityInKey(other)).toBe(isSame);
      }),
      { numRuns: 2_000 },
    );
  });

  it('differs from that of its own hash', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        expect(hashed(hashed(value))).not.toBe(hashed(value).startsWith('%') ? hashed(value) : undefined);
      }),
    );
  });

  it('is short, printable, and one hash tag', () => {
    fc.assert(
      fc.property(anyIdentity, (who) => {
        const key = ruleKey(ruleOf({ kind: 'key', place: 'GET /x' }), who);
        expect(key).toMatch(/^\{(ip|user|key|anon-user|anon-key):[!-z|~]{1,64}\}:GET \/x$/);
        expect(hashTag(key)).toBe(identityInKey(who));
      }),
    );
  });
});
