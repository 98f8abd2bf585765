import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { from, requestOf } from '../support/authentication.ts';
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

  it.each(['allow', 'deny'] as const)('that is not there is no way past a rule whose policy is %s', async (policy) => {
    const logger = new LogLines();
    const options = { identity: { ip: () => undefined }, onStoreError: policy };
    const app = await start(platform, { controllers, logger, options });

    expect(await app.statuses(2, path)).toEqual([503, 503]);
    expect(logger.errors).toEqual([expect.stringContaining('AddressController.get')]);
  });

  it('follows the rule’s policy when the application’s own function fails, and that is told once', async () => {
    const logger = new LogLines();
    const ip = (): string => {
      throw new Error('no address');
    };
    const options = { identity: { ip } };
    const app = await start(platform, { controllers, logger, options });
    expect(await app.statuses(3, path)).toEqual([200, 200, 200]);
    expect(app.store.consumed).toEqual([]);
    expect(logger.errors).toEqual([expect.stringContaining('AddressController.get')]);

    const strict = await start(platform, { controllers, options: { ...options, onStoreError: 'deny' } });
    expect(await strict.statuses(2, path)).toEqual([503, 503]);
  });
});
