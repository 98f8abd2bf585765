import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { RateLimit, SkipRateLimit } from 'nestjs-floodgate';
import { as, AuthenticationGuard } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS, type Answer } from '../support/nest-app.ts';

@Controller()
class HeadersController {
  @RateLimit({ limit: 3 })
  @Get('one')
  one() {}

  @RateLimit({ limit: 9, window: '1s' }, { limit: 2, window: '1m' })
  @Get('two')
  two() {}

  @RateLimit({ limit: 2, window: '30s' }, { limit: 2, window: '1m' })
  @Get('equal')
  equal() {}

  @RateLimit({ limit: 2, window: '1m', type: 'IP' }, { limit: 3, window: '1m', type: 'USER' })
  @UseGuards(AuthenticationGuard)
  @Get('two-moments')
  twoMoments() {}

  @RateLimit({ limit: 1, window: 0.25 })
  @Get('quick')
  quick() {}

  @RateLimit({ limit: 2, cost: () => 3 })
  @Get('too-costly')
  tooCostly() {}

  @SkipRateLimit()
  @Get('free')
  free() {}
}

const controllers = [HeadersController];

/** Limit, remaining, reset and Retry-After. */
const fieldsOf = ({ headers }: Answer): readonly (string | null)[] =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'].map((name) => headers.get(name));

describe.each(PLATFORMS)('the header fields of an answer on %s', (platform) => {
  const start = useApps();

  it('count down with each admitted request', async () => {
    const app = await start(platform, { controllers });

    expect(fieldsOf(await app.get('/one'))).toEqual(['3', '2', '10', null]);
    app.clock.advance(2_500);
    expect(fieldsOf(await app.get('/one'))).toEqual(['3', '1', '10', null]);
    expect(fieldsOf(await app.get('/one'))).toEqual(['3', '0', '10', null]);
  });

  it('say when the budget is whole again and when to come back', async () => {
    const app = await start(platform, { controllers });
    await app.get('/one');
    app.clock.advance(4_000);
    await app.statuses(2, '/one');
    app.clock.advance(1_500);

    expect(fieldsOf(await app.get('/one'))).toEqual(['3', '0', '9', '5']);
    app.clock.advance(4_499);
    expect(fieldsOf(await app.get('/one'))).toEqual(['3', '0', '5', '1']);
    app.clock.advance(1);
    expect(fieldsOf(await app.get('/one'))).toEqual(['3', '0', '10', null]);
  });

  it('round waits of less than a second up to one', async () => {
    const app = await start(platform, { controllers });
    await app.get('/quick');
    app.clock.advance(249);

    expect(fieldsOf(await app.get('/quick'))).toEqual(['1', '0', '1', '1']);
  });

  it('come from the rule with the fewest units left', async () => {
    const app = await start(platform, { controllers });

    expect(fieldsOf(await app.get('/two'))).toEqual(['2', '1', '60', null]);
    expect(fieldsOf(await app.get('/two'))).toEqual(['2', '0', '60', null]);
    expect(fieldsOf(await app.get('/two'))).toEqual(['2', '0', '60', '60']);
  });

  it('come from the rule with the longer reset when units are equal', async () => {
    const app = await start(platform, { controllers });

    expect(fieldsOf(await app.get('/equal'))).toEqual(['2', '1', '60', null]);
  });

  it('come from the most restrictive rule of both moments', async () => {
    const app = await start(platform, { controllers });

    expect(fieldsOf(await app.get('/two-moments', as('alice')))).toEqual(['2', '1', '60', null]);
  });

  it('come from the later moment when its rule is the most restrictive', async () => {
    const app = await start(platform, { controllers, options: { identity: { ip: () => String(clients++) } } });
    let clients = 0;

    expect(fieldsOf(await app.get('/two-moments', as('alice')))).toEqual(['2', '1', '60', null]);
    expect(fieldsOf(await app.get('/two-moments', as('alice')))).toEqual(['2', '1', '60', null]);
    expect(fieldsOf(await app.get('/two-moments', as('alice')))).toEqual(['3', '0', '60', null]);
    expect(fieldsOf(await app.get('/two-moments', as('alice')))).toEqual(['3', '0', '60', '60']);
  });

  it('tell requests that authentication refuses what their address has left', async () => {
    const app = await start(platform, { controllers });
    const answer = await app.get('/two-moments');

    expect(answer.status).toBe(401);
    expect(fieldsOf(answer)).toEqual(['2', '1', '60', null]);
  });

  it('promise no time when no waiting helps', async () => {
    const app = await start(platform, { controllers });

    expect(fieldsOf(await app.get('/too-costly'))).toEqual(['2', '2', '0', null]);
  });

  it('are none where no rule applies', async () => {
    const app = await start(platform, { controllers, options: { rules: [{ limit: 1 }] } });

    expect(fieldsOf(await app.get('/free'))).toEqual([null, null, null, null]);
  });

  it('are none but Retry-After when the module is told so', async () => {
    const app = await start(platform, { controllers, options: { headers: 'none' } });

    expect(fieldsOf(await app.get('/quick'))).toEqual([null, null, null, null]);
    expect(fieldsOf(await app.get('/quick'))).toEqual([null, null, null, '1']);
  });

  it('stand on answers to every verb', async () => {
    const app = await start(platform, { controllers });
    const { status, headers } = await app.call('HEAD', '/one');

    expect(status).toBe(200);
    expect(headers.get('x-ratelimit-remaining')).toBe('2');
  });
});
