import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Req, type INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { RateLimit } from 'nestjs-floodgate';
import { from } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS, type Platform, type TrustProxy } from '../support/nest-app.ts';

@Controller()
class AddressController {
  @RateLimit({ limit: 1, type: 'IP' })
  @Get('address')
  get(@Req() { ip }: { ip: string }): { ip: string } {
    return { ip };
  }
}

const controllers = [AddressController];
const path = '/address';

/** As a client writes it, and each proxy on the way adds to it; the connection is that of the last proxy. */
const CLAIMED = '198.51.100.9';
const CLIENT = '203.0.113.7';
const PROXY = '10.0.0.2';
const CONNECTION = '127.0.0.1';
const CHAINS = [[CLIENT], [CLIENT, PROXY], [CLAIMED, CLIENT, PROXY]].map((chain) => chain.join(', '));

/** Whose address is taken from each of the chains. */
type Taken = readonly [string, string, string];
const NOBODY_BEHIND: Taken = [CONNECTION, CONNECTION, CONNECTION];
const LEFT_MOST: Taken = [CLIENT, CLIENT, CLAIMED];
const ONE_HOP: Taken = [CLIENT, PROXY, PROXY];
const TWO_HOPS: Taken = [CLIENT, CLIENT, CLIENT];

const isProxy = (address: string): boolean => address === CONNECTION || address === PROXY;

/** What is trusted on every adapter alike. */
const TRUST: readonly (readonly [string, TrustProxy, Taken])[] = [
  ['nobody', false, NOBODY_BEHIND],
  ['everybody', true, LEFT_MOST],
  ['one address', CONNECTION, ONE_HOP],
  ['a list of addresses', [CONNECTION, PROXY], TWO_HOPS],
  ['a list of networks', ['127.0.0.0/8', '10.0.0.0/8'], TWO_HOPS],
  ['a list with a network in IPv6 alone', ['fd00::/8'], NOBODY_BEHIND],
  ['names of networks', ['loopback', 'uniquelocal'], TWO_HOPS],
  ['a text of several', '127.0.0.1, 10.0.0.0/8', TWO_HOPS],
  ['a text of several without spaces', 'loopback,uniquelocal', TWO_HOPS],
  ['a function of the address', isProxy, TWO_HOPS],
  ['a function of the first hop', (_, hop) => hop < 1, ONE_HOP],
  ['a function of two hops', (_, hop) => hop < 2, TWO_HOPS],
  ['a function that trusts nobody', () => false, NOBODY_BEHIND],
];

/** Fastify cannot know by a number whether the connection is that of a proxy, and so trusts nobody. */
const NUMBERS: readonly (readonly [Platform, number, Taken])[] = [
  ['express', 0, NOBODY_BEHIND],
  ['express', 1, ONE_HOP],
  ['express', 2, TWO_HOPS],
  ['fastify', 0, NOBODY_BEHIND],
  ['fastify', 1, NOBODY_BEHIND],
  ['fastify', 2, NOBODY_BEHIND],
];

const CASES = [
  ...PLATFORMS.flatMap((platform) => TRUST.map(([what, trust, taken]) => [platform, what, trust, taken] as const)),
  ...NUMBERS.map(([platform, hops, taken]) => [platform, `${hops} hops`, hops, taken] as const),
];
describe('behind proxies', () => {
  const start = useApps();

  it.each(CASES)('on %s, trusting %s, the budget is that of the address which the adapter finds', async (...one) => {
    const [platform, , trustProxy, taken] = one;
    for (const [i, chain] of CHAINS.entries()) {
      const app = await start(platform, { controllers, trustProxy });
      const answer = await app.get(path, from(chain));

      expect([chain, answer.json]).toEqual([chain, { ip: taken[i] }]);
      expect(await app.statuses(1, path, from(chain))).toEqual([429]);
      expect(new Set(app.store.chargedKeys)).toEqual(new Set([`{ip:${taken[i]}}:GET /address`]));
    }
  });

  it.each(CASES)('on %s, trusting %s, a warning comes exactly when nothing of the header is taken', async (...one) => {
    const [platform, , trustProxy, taken] = one;
    const logger = new LogLines();
    const app = await start(platform, { controllers, trustProxy, logger });
    for (const chain of CHAINS) await app.get(path, from(chain));

    expect(logger.matching(/FLOODGATE_UNTRUSTED_PROXY/)).toHaveLength(taken === NOBODY_BEHIND ? 1 : 0);
  });

  it.each(PLATFORMS)('on %s, a client that adds addresses before its own keeps its budget', async (platform) => {
    const app = await start(platform, { controllers, trustProxy: ['loopback', 'uniquelocal'] });
    const chains = [[], [CLAIMED], [PROXY], [CONNECTION], ['unknown'], [CLAIMED, PROXY]].map((claimed) =>
      [...claimed, CLIENT, PROXY].join(', '),
    );

    const statuses: number[] = [];
    for (const chain of chains) statuses.push((await app.get(path, from(chain))).status);
    expect(statuses).toEqual([200, 429, 429, 429, 429, 429]);
  });

  it.each(PLATFORMS)('on %s, everybody being trusted, a client chooses its own address', async (platform) => {
    const app = await start(platform, { controllers, trustProxy: true });

    expect(await app.statuses(1, path, from(`198.51.100.1, ${CLIENT}`))).toEqual([200]);
    expect(await app.statuses(1, path, from(`198.51.100.2, ${CLIENT}`))).toEqual([200]);
  });

  it.each(PLATFORMS)('on %s, a warning comes for Forwarded, which no adapter reads', async (platform) => {
    const logger = new LogLines();
    const app = await start(platform, { controllers, trustProxy: true, logger });
    const answer = await app.get(path, { headers: { forwarded: `for=${CLIENT}` } });

    expect(answer.json).toEqual({ ip: CONNECTION });
    expect(logger.matching(/FLOODGATE_UNTRUSTED_PROXY/)).toHaveLength(1);
  });

  it.each(PLATFORMS)('on %s, no warning comes once the header of a proxy was taken', async (platform) => {
    const logger = new LogLines();
    const app = await start(platform, { controllers, trustProxy: 'loopback', logger });
    await app.get(path, from(CLIENT));
    await app.get(path, { headers: { forwarded: `for=${CLIENT}` } });

    expect(logger.matching(/FLOODGATE_UNTRUSTED_PROXY/)).toEqual([]);
  });

  it('on Express, what the application sets after its creation counts', async () => {
    const logger = new LogLines();
    const configure = (app: INestApplication): unknown =>
      (app as NestExpressApplication).set('trust proxy', 'loopback');
    const app = await start('express', { controllers, configure, logger });

    expect((await app.get(path, from(CLIENT))).json).toEqual({ ip: CLIENT });
    expect(logger.matching(/FLOODGATE_UNTRUSTED_PROXY/)).toEqual([]);
  });

  it('on Fastify, it has to be told when the adapter is made', async () => {
    const { app } = await start('fastify', { controllers });

    expect(() => (app as NestExpressApplication).set('trust proxy', 'loopback')).toThrow(TypeError);
  });
});
