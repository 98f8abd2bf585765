import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { once } from 'node:events';
import { connect } from 'node:net';
import { RateLimit } from 'nestjs-floodgate';
import { from, requestOf } from '../support/authentication.ts';
import { eventually } from '../support/eventually.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Controller()
class AddressController {
  @RateLimit({ limit: 1, type: 'IP' })
  @Get('address')
  get() {}
}

const controllers = [AddressController];
const path = '/address';
const failing = (): never => {
  throw new Error('no address');
};

describe.each(PLATFORMS)('the client’s address on %s', (platform) => {
  const start = useApps();

  it('is that of the connection, whatever forwarding headers claim', async () => {
    const app = await start(platform, { controllers });
    expect((await app.get(path)).status).toBe(200);

    for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip']) {
      expect((await app.get(path, { headers: { [header]: '198.51.100.1' } })).status).toBe(429);
    }
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{ip:127.0.0.1}:GET /address']));
  });

  it('is known of a client that resets its connection right after its request', async () => {
    const app = await start(platform, { controllers });
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => socket.resetAndDestroy());
    await eventually(async () => app.store.consumed.length > 0);

    expect(app.store.chargedKeys).toEqual(['{ip:127.0.0.1}:GET /address']);
  });

  it('is the one that the adapter takes from its proxy, when the application trusts it', async () => {
    const app = await start(platform, { controllers, trustProxy: true });

    expect(await app.statuses(2, path, from('198.51.100.1'))).toEqual([200, 429]);
    expect(await app.statuses(2, path, from('198.51.100.2'))).toEqual([200, 429]);
  });

  it('is one for a whole IPv6 network', async () => {
    const app = await start(platform, { controllers, trustProxy: true });

    expect(await app.statuses(1, path, from('2001:db8:1:2::1'))).toEqual([200]);
    expect(await app.statuses(1, path, from('2001:db8:1:2:ffff::2'))).toEqual([429]);
    expect(await app.statuses(1, path, from('2001:db8:1:3::1'))).toEqual([200]);
  });

  it('is one in IPv4 and in IPv6 that stands for it', async () => {
    const app = await start(platform, { controllers, trustProxy: true });

    expect(await app.statuses(1, path, from('198.51.100.1'))).toEqual([200]);
    expect(await app.statuses(1, path, from('::ffff:198.51.100.1'))).toEqual([429]);
  });

  it('counts as many bits of IPv6 as the application says', async () => {
    const options = { identity: { ipv6Prefix: 48 } };
    const app = await start(platform, { controllers, trustProxy: true, options });

    expect(await app.statuses(1, path, from('2001:db8:1:2::1'))).toEqual([200]);
    expect(await app.statuses(1, path, from('2001:db8:1:3::1'))).toEqual([429]);
    expect(await app.statuses(1, path, from('2001:db8:2:2::1'))).toEqual([200]);
  });

  it('is what the application’s own function gives, in one spelling', async () => {
    const ip = (context: Parameters<typeof requestOf>[0]) => requestOf(context).headers['cf-connecting-ip'];
    const app = await start(platform, { controllers, options: { identity: { ip } } });
    const behind = (address: string) => ({ headers: { 'cf-connecting-ip': address } });

    expect(await app.statuses(1, path, behind('198.51.100.1'))).toEqual([200]);
    expect(await app.statuses(1, path, behind('[::ffff:198.51.100.1]:80'))).toEqual([429]);
    expect(await app.statuses(1, path, behind('198.51.100.2'))).toEqual([200]);
  });

  it.each<[string, 'allow' | 'deny', () => undefined]>([
    ['gives none', 'allow', () => undefined],
    ['gives none', 'deny', () => undefined],
    ['fails', 'allow', failing],
    ['fails', 'deny', failing],
  ])('is asked of a function that %s: no way past a rule whose policy is %s, and told once', async (_, policy, ip) => {
    const logger = new LogLines();
    const options = { identity: { ip }, onStoreError: policy };
    const app = await start(platform, { controllers, logger, options });

    expect(await app.statuses(2, path)).toEqual([503, 503]);
    expect(app.store.consumed).toEqual([]);
    expect(logger.errors).toEqual([expect.stringContaining('AddressController.get')]);
  });
});
