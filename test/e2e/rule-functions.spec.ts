import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type ExecutionContext } from '@nestjs/common';
import { RateLimit, type RateLimitOptions } from 'nestjs-floodgate';
import { requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const headerOf = (context: ExecutionContext, name: string) => requestOf(context).headers[name];
const fails = (): never => {
  throw new Error('the test broke it');
};
const rejects = async (): Promise<never> => fails();
const gives = (value: unknown) => () => value as never;

function limitedBy(...rules: readonly RateLimitOptions[]) {
  @Controller()
  class DynamicController {
    @RateLimit(...rules)
    @Get('dynamic')
    get() {}
  }
  return [DynamicController];
}

const FAULTY: readonly (readonly [string, RateLimitOptions])[] = [
  ['limit fails', { limit: fails }],
  ['limit rejects', { limit: rejects }],
  ['limit is zero', { limit: gives(0) }],
  ['limit is negative', { limit: gives(-5) }],
  ['limit is a fraction', { limit: gives(1.5) }],
  ['limit is no number', { limit: gives(NaN) }],
  ['limit is too large', { limit: gives(1_000_000_001) }],
  ['limit is too large for an exact log', { limit: gives(10_001), exact: true }],
  ['limit is missing', { limit: gives(undefined) }],
  ['limit is text', { limit: gives('many') }],
  ['limit is a promise of nothing', { limit: gives(Promise.resolve(null)) }],
  ['window fails', { window: fails }],
  ['window is zero', { window: gives(0) }],
  ['window is text', { window: gives('soon') }],
  ['window looks like milliseconds', { window: gives(10_000) }],
  ['cost fails', { cost: fails }],
  ['cost is negative', { cost: gives(-1) }],
  ['skip fails', { skip: fails }],
  ['skip rejects', { skip: rejects }],
  ['key fails', { key: fails }],
  ['key rejects', { key: rejects }],
];

describe.each(PLATFORMS)('a rule of whose functions one is faulty, on %s', (platform) => {
  const start = useApps();

  it.each(FAULTY)('does not limit where its policy allows, and is told once: %s', async (_, rule) => {
    const logger = new LogLines();
    const app = await start(platform, { controllers: limitedBy(rule), logger });

    expect(await app.statuses(5, '/dynamic')).toEqual([200, 200, 200, 200, 200]);
    expect(logger.errors).toEqual([expect.stringMatching(/^error: DynamicController\.get .*not limited by it/)]);
  });

  it.each(FAULTY)('refuses as unavailable where its policy denies, and is told once: %s', async (_, rule) => {
    const logger = new LogLines();
    const options = { onStoreError: 'deny' } as const;
    const app = await start(platform, { controllers: limitedBy(rule), logger, options });
    const { status, headers, text } = await app.get('/dynamic');

    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(text).not.toContain('the test broke it');
    expect(await app.statuses(2, '/dynamic')).toEqual([503, 503]);
    expect(logger.errors).toEqual([expect.stringMatching(/^error: DynamicController\.get .*unavailable/)]);
  });

  it('leaves the other rules as they are', async () => {
    const app = await start(platform, { controllers: limitedBy({ limit: fails }, { limit: 2, type: 'IP' }) });

    expect(await app.statuses(3, '/dynamic')).toEqual([200, 200, 429]);
  });

  it('is told for each rule', async () => {
    const logger = new LogLines();
    const rules = limitedBy({ limit: fails, name: 'one' }, { limit: fails, name: 'two' });
    const app = await start(platform, { controllers: rules, logger });
    await app.statuses(3, '/dynamic');

    expect(logger.errors).toEqual([expect.stringContaining('(one)'), expect.stringContaining('(two)')]);
  });
});

describe.each(PLATFORMS)('functions of a rule on %s', (platform) => {
  const start = useApps();

  it('find limit, window and cost for each request', async () => {
    const app = await start(platform, {
      controllers: limitedBy({
        type: 'IP',
        limit: (context) => (headerOf(context, 'x-plan') === 'pro' ? 4 : 2),
        window: async () => '1m',
        cost: (context) => headerOf(context, 'x-cost') ?? 1,
      }),
    });
    const pro = { headers: { 'x-plan': 'pro' } };

    expect(await app.statuses(3, '/dynamic')).toEqual([200, 200, 429]);
    expect(await app.statuses(1, '/dynamic', pro)).toEqual([200]);
    expect(await app.statuses(1, '/dynamic', { headers: { ...pro.headers, 'x-cost': '2' } })).toEqual([429]);
    expect(await app.statuses(2, '/dynamic', pro)).toEqual([200, 429]);
    expect(app.store.consumed[0]!.charges).toEqual([expect.objectContaining({ limit: 2, windowMs: 60_000, cost: 1 })]);
  });

  it('leave the layout of the log to the rule: exact where it asks for it', async () => {
    const rules = [
      { limit: async () => 500, exact: true, name: 'a' },
      { limit: async () => 400, name: 'b' },
      { limit: 300, exact: true, name: 'c' },
    ];
    const app = await start(platform, { controllers: limitedBy(...rules) });
    await app.get('/dynamic');

    const layouts = app.store.consumed.flatMap(({ charges }) => charges.map(({ limit, layout }) => [limit, layout]));
    expect(layouts).toEqual([
      [500, 'exact'],
      [400, undefined],
      [300, 'exact'],
    ]);
  });

  it('exempt requests', async () => {
    const skip = async (context: ExecutionContext) => headerOf(context, 'x-internal') === 'yes';
    const app = await start(platform, { controllers: limitedBy({ limit: 1, skip }) });

    expect(await app.statuses(3, '/dynamic', { headers: { 'x-internal': 'yes' } })).toEqual([200, 200, 200]);
    expect(await app.statuses(2, '/dynamic')).toEqual([200, 429]);
  });

  it('that exempt a request from one rule leave it to the others', async () => {
    const app = await start(platform, {
      controllers: limitedBy({ limit: 1, skip: () => true }, { limit: 2, window: '1m' }),
    });

    expect(await app.statuses(3, '/dynamic')).toEqual([200, 200, 429]);
  });

  it.each([3, 101, 1_000_000])(
    'that ask for %i units get a refusal without a time where there are never so many, and the log says why',
    async (cost) => {
      const logger = new LogLines();
      const app = await start(platform, { controllers: limitedBy({ limit: 2, cost: () => cost }), logger });
      const { status, headers } = await app.get('/dynamic');

      expect([status, headers.get('retry-after')]).toEqual([429, null]);
      await app.statuses(3, '/dynamic');
      expect(logger.errors).toEqual([expect.stringMatching(new RegExp(`DynamicController\\.get .*cost of ${cost} `))]);
    },
  );

  it.each([
    ['an object', {}],
    ['a list of one text', ['acme']],
    ['true', true],
    ['no number', NaN],
    ['an object with a text of its own', { toString: () => 'acme' }],
  ])('that find %s in place of a key, as clients may send, leave the request without an identity', async (_, found) => {
    const app = await start(platform, { controllers: limitedBy({ limit: 1, key: gives(found) }) });

    expect(await app.statuses(2, '/dynamic')).toEqual([200, 429]);
    expect(app.store.chargedKeys[0]).toMatch(/^\{anon-key:127\.0\.0\.1\}/);
  });
});
