import { describe, expect, it } from '@jest/globals';
import { MemoryStore, RateLimitConfigurationError, RateLimitModule } from 'nestjs-floodgate';
import { connectionsDuring } from '../support/counting-server.ts';
import { rootModule } from '../support/limited-app.ts';
import { startErrorOf, startMessageOfOptions, startMessageOfRules } from '../support/start-error.ts';

/** Option and value. */
const FAULTY: readonly (readonly [string, unknown])[] = [
  ['store', 'memory'],
  ['store', null],
  ['store', {}],
  ['keyPrefix', ''],
  ['keyPrefix', 'my app'],
  ['keyPrefix', 'rl{app}'],
  ['keyPrefix', 42],
  ['decisionTimeout', 0],
  ['decisionTimeout', -1],
  ['decisionTimeout', NaN],
  ['decisionTimeout', 'fast'],
  ['decisionTimeout', '2m'],
  ['decisionTimeout', null],
  ['onStoreError', 'open'],
  ['onStoreError', null],
  ['instances', 0],
  ['instances', -1],
  ['instances', 1.5],
  ['instances', NaN],
  ['instances', '4'],
  ['instances', null],
  ['onMemoryLoss', 'refuse'],
  ['onMemoryLoss', null],
  ['rules', {}],
  ['rules', 'strict'],
  ['rules', null],
  ['headers', 'draft-8'],
  ['headers', false],
  ['headers', null],
  ['enabled', 'false'],
  ['enabled', 0],
  ['enabled', null],
  ['guard', 'auto'],
  ['guard', false],
  ['identity', null],
  ['identity.ip', 'x-forwarded-for'],
  ['identity.user', {}],
  ['identity.ipv6Prefix', 31],
  ['identity.ipv6Prefix', 129],
  ['identity.ipv6Prefix', 64.5],
  ['identity.ipv6Prefix', '64'],
  ['identity.anonymous', 'block'],
  ['identity.trustProxy', true],
  ['allow', null],
  ['allow', '203.0.113.7'],
  ['allow', ['203.0.113.7']],
  ['deny', true],
  ['deny.hosts', []],
  ['deny.addresses', '203.0.113.7'],
  ['deny.addresses', null],
  ['allow.users', 'alice'],
  ['allow.users', { alice: true }],
  ['defaults', null],
  ['defaults.window', 'soon'],
  ['defaults.limit', 0],
  ['defaults.cost', 1_000_000_001],
  ['defaults.type', 'ip'],
  ['defaults.message', ''],
  ['defaults.onStoreError', 'open'],
  ['defaults.name', 'all'],
  ['defaults.skip', 'never'],
  ['ttl', 60],
  ['limit', 5],
];

/** `identity.ip` and a value as `{ identity: { ip: value } }`. */
const nested = (path: string, value: unknown): unknown =>
  path.split('.').reduceRight((inner: unknown, name) => ({ [name]: inner }), value);

const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : JSON.stringify(value));

describe('a module option that cannot work', () => {
  it.each(FAULTY)('fails the start: %s %j', async (option, value) => {
    const message = await startMessageOfOptions(nested(option, value));

    // A rule's option is named as in a rule, behind what it is a default of.
    expect(message.replace('option defaults: ', 'option defaults.')).toContain(`option ${option} `);
    expect(message).toContain(`got ${shown(value)}`);
  });

  it.each<unknown>([
    '',
    'localhost:6379',
    'http://localhost:6379',
    'redis//localhost',
    6379,
    true,
    null,
    [],
    [{ host: 'localhost', port: 6379 }],
  ])('fails the start: %j as redis, which is not shown since it may hold a password', async (redis) => {
    expect(await startMessageOfOptions({ redis })).toMatch(/option redis must be a URL/);
  });

  it.each<[string, unknown]>([
    ['a URL', 'http://user:hunter2@localhost'],
    ['options', { password: 'hunter2', port: 'six' }],
    ['a list', ['redis://:hunter2@localhost']],
  ])('never shows the password in %s', async (_, redis) => {
    expect(await startMessageOfOptions({ redis, headers: 'wrong' })).not.toContain('hunter2');
  });

  it('fails the start: each entry of a list of clients that is none', async () => {
    const deny = { addresses: ['10.0.0.0/8', '10.0.0.1/8', 'localhost', '::/129', '010.0.0.1'], users: ['', 'bob', 7] };
    const error = await startErrorOf(
      rootModule({ options: { deny: deny as object, allow: { users: [null] } as object } }),
    );
    expect((error as RateLimitConfigurationError).faults).toEqual([
      'option allow.users[0] must be the id of a user, as a text that is not empty, got null',
      expect.stringMatching(/^option deny\.addresses\[1\] must have no bits set .*, got "10\.0\.0\.1\/8"$/),
      expect.stringMatching(/^option deny\.addresses\[2\] must be an IPv4 or IPv6 address .*, got "localhost"$/),
      expect.stringMatching(/^option deny\.addresses\[3\] must have a prefix of 128 bits at most, got "::\/129"$/),
      expect.stringMatching(/^option deny\.addresses\[4\] must be an IPv4 or IPv6 address .*, got "010\.0\.0\.1"$/),
      'option deny.users[0] must be the id of a user, as a text that is not empty, got ""',
      'option deny.users[2] must be the id of a user, as a text that is not empty, got 7',
    ]);
  });

  it('fails the start: redis beside store', async () => {
    expect(await startMessageOfOptions({ redis: 'redis://localhost', store: new MemoryStore() })).toContain(
      'options redis and store exclude each other',
    );
  });

  it('fails the start: a default whose fault no rule meets', async () => {
    expect(await startMessageOfRules([{ limit: 5 }], { defaults: { limit: 0 } })).toContain('got 0');
  });

  it.each<unknown>([undefined, null, 'redis://localhost:6379', 42])(
    'fails the start with a configuration error: %j in place of all options',
    async (options) => {
      const limits = RateLimitModule.forRootAsync({ useFactory: () => options as object });
      const error = await startErrorOf(rootModule({ imports: () => [limits] }));

      expect(error).toBeInstanceOf(RateLimitConfigurationError);
    },
  );
});

describe('what is misconfigured', () => {
  it.each([
    ['a rule', { rules: [{ limit: 0 }] }],
    ['an option', { headers: 'draft-8' }],
  ])('%s fails the start before a connection opens', async (_, faulty) => {
    let message = '';
    const connections = await connectionsDuring(async (redis) => {
      message = await startMessageOfOptions({ redis, ...faulty });
    });

    expect(message).toContain('Rate limiting is misconfigured');
    expect(connections).toBe(0);
  });
});

describe('a module option that can work', () => {
  it.each([
    [undefined],
    [{}],
    [{ keyPrefix: 'shop:rl', decisionTimeout: '1m' }],
    [{ decisionTimeout: 0.05, onStoreError: 'deny' }],
    [{ onStoreError: 'local', instances: 4, onMemoryLoss: 'fence' }],
    [{ instances: () => 2, onMemoryLoss: 'accept' }],
    [{ headers: 'none', enabled: false, guard: 'manual' }],
    [{ identity: { ipv6Prefix: 32, anonymous: 'deny', ip: () => '::1', user: () => 'me' } }],
    [{ identity: { ipv6Prefix: 128 } }],
    [{ defaults: { window: '60', limit: '5', cost: '2', type: 'IP', message: 'no', onStoreError: 'deny' } }],
    [{ rules: [] }],
    [{ defaults: { cost: 30 }, rules: [{ limit: 100 }] }],
    [{ redis: undefined, store: undefined, keyPrefix: undefined, headers: undefined, identity: undefined }],
  ])('starts: %j', async (options) => {
    expect(await startMessageOfOptions(options)).toBe('');
  });
});
