import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Post, UseGuards } from '@nestjs/common';
import { RateLimit, type AnonymousPolicy, type KeyFunction, type RateLimitOptions } from 'nestjs-floodgate';
import { as, AuthenticationGuard, requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const emailInBody: KeyFunction = (context) => requestOf(context).body?.['email'] as string | undefined;
const tenantIfAny: KeyFunction = (context) => requestOf(context).user?.['tenant'] as string | undefined;
const tenantOrThrow: KeyFunction = (context) => requestOf(context).user!['tenant'] as string;
const tenantSoon: KeyFunction = async (context) => tenantOrThrow(context);

function routesLimitedBy(key: KeyFunction, rule: Omit<RateLimitOptions, 'key'> = {}) {
  @UseGuards(AuthenticationGuard)
  @Controller()
  class KeyedController {
    @RateLimit({ limit: 2, ...rule, key })
    @Get('keyed')
    read() {}

    @RateLimit({ limit: 2, ...rule, key })
    @Post('keyed')
    write() {}
  }
  return [KeyedController];
}

describe.each(PLATFORMS)('the moment of a key rule on %s', (platform) => {
  const start = useApps();

  it('is before the guards when the function gives an identity there', async () => {
    const app = await start(platform, { controllers: routesLimitedBy(emailInBody) });
    const tryEmail = async (email: string) => (await app.post('/keyed', { body: { email } })).status;

    expect(await tryEmail('a@example.org')).toBe(401);
    expect(await tryEmail('a@example.org')).toBe(401);
    expect(await tryEmail('a@example.org')).toBe(429);
    expect(await tryEmail('b@example.org')).toBe(401);
  });

  it.each([
    ['gives nothing before them', tenantIfAny],
    ['throws before them', tenantOrThrow],
    ['rejects before them', tenantSoon],
  ])('is after the guards when the function %s', async (_, key) => {
    const logger = new LogLines();
    const app = await start(platform, { controllers: routesLimitedBy(key), logger });

    expect(await app.statuses(3, '/keyed')).toEqual([401, 401, 401]);
    expect(app.store.consumed).toEqual([]);
    expect(await app.statuses(2, '/keyed', as('alice', 'acme'))).toEqual([200, 200]);
    expect(await app.statuses(1, '/keyed', as('bob', 'acme'))).toEqual([429]);
    expect(await app.statuses(1, '/keyed', as('alice', 'globex'))).toEqual([200]);
    expect(logger.errors).toEqual([]);
  });

  it('is after the guards when a number of the rule can only be found there', async () => {
    const controllers = routesLimitedBy(() => 'everybody', {
      limit: (context) => (requestOf(context).user!['id'] === 'alice' ? 1 : 2),
    });
    const app = await start(platform, { controllers });

    expect(await app.statuses(3, '/keyed')).toEqual([401, 401, 401]);
    expect(await app.statuses(2, '/keyed', as('alice'))).toEqual([200, 429]);
    expect(await app.statuses(2, '/keyed', as('bob'))).toEqual([200, 429]);
  });

  it('is found anew for each request: what waited once is charged once', async () => {
    const app = await start(platform, { controllers: routesLimitedBy(tenantIfAny) });
    await app.statuses(3, '/keyed', as('alice', 'acme'));

    expect(app.store.consumed.map(({ charges }) => charges.length)).toEqual([1, 1, 1]);
  });

  it('is one moment only: a rule that was decided before the guards is not decided again', async () => {
    const app = await start(platform, { controllers: routesLimitedBy(() => 'everybody') });

    expect(await app.statuses(3, '/keyed', as('alice'))).toEqual([200, 200, 429]);
    expect(app.store.consumed).toHaveLength(3);
  });

  it.each<[AnonymousPolicy, readonly number[]]>([
    ['ip', [200, 200, 429]],
    ['deny', [403, 403, 403]],
    ['skip', [200, 200, 200]],
  ])('passes without an identity, and `anonymous: %s` applies', async (anonymous, statuses) => {
    const app = await start(platform, {
      controllers: routesLimitedBy(tenantIfAny),
      options: { identity: { anonymous } },
    });

    expect(await app.statuses(3, '/keyed', as('alice'))).toEqual(statuses);
  });

  it('is before the guards when the rule says so, whatever the function lacks there', async () => {
    const app = await start(platform, {
      controllers: routesLimitedBy(tenantIfAny, { when: 'beforeGuards' }),
    });

    expect(await app.statuses(3, '/keyed')).toEqual([401, 401, 429]);
  });

  it('is after the guards when the rule says so, though the function has an identity before', async () => {
    let timesAsked = 0;
    const key = () => {
      timesAsked++;
      return 'everybody';
    };
    const app = await start(platform, { controllers: routesLimitedBy(key, { when: 'afterGuards' }) });

    expect(await app.statuses(3, '/keyed')).toEqual([401, 401, 401]);
    expect(timesAsked).toBe(0);
    expect(await app.statuses(3, '/keyed', as('alice'))).toEqual([200, 200, 429]);
  });
});
