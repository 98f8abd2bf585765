import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, type CanActivate } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { as, AuthenticationGuard, from } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

class ClosedGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Controller()
class OrdersController {
  @RateLimit({ type: 'METHOD', limit: 1 }, { type: 'IP', limit: 3 })
  @UseGuards(AuthenticationGuard)
  @Get('order')
  order() {}

  @RateLimit({ type: 'USER', limit: 5 }, { type: 'IP', limit: 6 }, { type: 'METHOD', limit: 7 })
  @RateLimit({ type: 'IP', limit: 8, window: '1m' })
  @UseGuards(AuthenticationGuard)
  @Get('four-rules')
  fourRules() {}

  @RateLimit({ type: 'USER', limit: 1, when: 'beforeGuards' }, { type: 'IP', limit: 1, when: 'afterGuards' })
  @UseGuards(AuthenticationGuard)
  @Get('swapped')
  swapped() {}

  @RateLimit({ type: 'METHOD' }, { type: 'IP', when: 'afterGuards' }, { type: 'USER' })
  @RateLimit({ key: () => 'tenant', when: 'afterGuards' })
  @UseGuards(AuthenticationGuard)
  @Get('every-kind')
  everyKind() {}

  @RateLimit({ type: 'METHOD', limit: 2, when: 'beforeGuards' })
  @UseGuards(ClosedGuard)
  @Get('closed')
  closed() {}
}

const controllers = [OrdersController];

describe.each(PLATFORMS)('the two moments of one request on %s', (platform) => {
  const start = useApps();

  it('gives back what the address was charged when a rule after the guards refuses', async () => {
    const app = await start(platform, { controllers, trustProxy: true });

    expect(await app.statuses(1, '/order', from('203.0.113.1', as('alice')))).toEqual([200]);
    expect(await app.statuses(5, '/order', from('203.0.113.2', as('bob')))).toEqual([429, 429, 429, 429, 429]);
    app.clock.advance(10_000);
    expect(await app.statuses(1, '/order', from('203.0.113.2', as('bob')))).toEqual([200]);
  });

  it('gives back exactly the call that was refused', async () => {
    const app = await start(platform, { controllers });
    await app.statuses(2, '/order', as('alice'));

    const [, , early] = app.store.consumed;
    expect(app.store.refunded).toEqual([
      expect.objectContaining({ id: early!.id, charges: [expect.objectContaining({ key: early!.charges[0]!.key })] }),
    ]);
  });

  it('keeps the charge of an address whose request another guard refuses', async () => {
    const app = await start(platform, { controllers });

    expect(await app.statuses(4, '/order')).toEqual([401, 401, 401, 429]);
    expect(app.store.refunded).toEqual([]);
  });

  it('asks the store once for all rules of one moment', async () => {
    const app = await start(platform, { controllers });
    await app.get('/four-rules', as('alice'));

    expect(app.store.consumed.map(({ charges }) => charges.map(({ limit }) => limit))).toEqual([
      [6, 8],
      [5, 7],
    ]);
  });

  it('asks for the narrowest identity first and for what all share last, however the rules are written', async () => {
    const app = await start(platform, { controllers, options: { rules: [{ type: 'METHOD' }] } });
    await app.get('/every-kind', as('alice'));

    expect(app.store.chargedKeys).toEqual([
      '{user:alice}:GET /every-kind',
      '{key:tenant}:GET /every-kind',
      '{ip:127.0.0.1}:GET /every-kind',
      '{method:GET /every-kind}',
      '{method:application}',
    ]);
  });

  it('asks the store nothing about a request whose first moment refused', async () => {
    const app = await start(platform, { controllers });
    await app.statuses(4, '/order');
    app.store.consumed.length = 0;

    expect(await app.statuses(1, '/order', as('alice'))).toEqual([429]);
    expect(app.store.consumed).toHaveLength(1);
  });

  it('calls ids of the two moments apart, and those of all requests', async () => {
    const app = await start(platform, { controllers });
    await app.statuses(3, '/four-rules', as('alice'));

    expect(new Set(app.store.consumed.map(({ id }) => id)).size).toBe(6);
  });

  it('decides a rule where its `when` says', async () => {
    const app = await start(platform, { controllers });

    // Before the guards nobody is known, so the USER rule counts the address; the IP rule waits for authentication.
    expect(await app.statuses(2, '/swapped')).toEqual([401, 429]);
    expect(app.store.chargedKeys).toEqual(['{anon-user:127.0.0.1}:GET /swapped', '{anon-user:127.0.0.1}:GET /swapped']);
  });

  it('charges a METHOD rule that is decided early for requests that other guards refuse', async () => {
    const app = await start(platform, { controllers });

    expect(await app.statuses(3, '/closed')).toEqual([403, 403, 429]);
  });
});
