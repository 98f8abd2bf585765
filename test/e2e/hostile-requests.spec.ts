import { describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Post, type ExecutionContext } from '@nestjs/common';
import { RateLimit, type RateLimitOptions } from 'nestjs-floodgate';
import { CLAIMED_ADDRESSES, CLAIMS } from '../support/hostile-addresses.ts';
import { ALICE_AGAIN, WHO_IN, WITHOUT_WHO } from '../support/hostile-identities.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { sendRaw, type RawRequest } from '../support/raw-request.ts';

interface Request {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: { readonly email?: unknown } | null;
}

// Hundreds of connections in a test, and other tests at the same time.
jest.setTimeout(30_000);

const requestIn = (context: ExecutionContext): Request => context.switchToHttp().getRequest();
const nameIn = ({ query }: Request) => query['name'];

/** One request a minute for whoever this finds. */
const oncePer = (find: (request: Request) => unknown): RateLimitOptions => ({
  limit: 1,
  window: '1m',
  key: (context) => find(requestIn(context)) as string,
});

@Controller()
class HostileController {
  @RateLimit({ type: 'IP', limit: 1, window: '1m' })
  @Get('address')
  address() {}

  @RateLimit(oncePer(({ body }) => body?.email))
  @Post('body')
  body() {}

  @RateLimit(oncePer(nameIn))
  @Get('query')
  query() {}

  @RateLimit({ type: 'USER', limit: 1, window: '1m' })
  @Get('user')
  user() {}

  @RateLimit(oncePer(({ headers }) => headers['x-api-key']))
  @Get('field')
  field() {}
}

const parts = {
  controllers: [HostileController],
  options: { identity: { user: (context: ExecutionContext) => nameIn(requestIn(context)) as string } },
};
const kindAt = (place: string): string => (place === 'GET /user' ? 'user' : 'key');
const PLACES = ['POST /body', 'GET /query', 'GET /user', 'GET /field'];
const claims: readonly RawRequest[] = CLAIMS.map((claim) => ({ target: 'GET /address', ...claim }));
/** A request that came through a proxy, which wrote whom it has it from behind what the client claimed. */
const via = (client: string, ...claimed: readonly string[]): RawRequest => ({
  target: 'GET /address',
  fields: [`X-Forwarded-For: ${[...claimed, client].join(', ')}`],
});

async function statuses(app: LimitedApp, requests: readonly RawRequest[]): Promise<readonly number[]> {
  const answers: number[] = [];
  for (const request of requests) answers.push(await sendRaw(app.url, request));
  return answers;
}
const all = (requests: readonly unknown[], status: number): readonly number[] => requests.map(() => status);

/** Refused by the limit, or by the adapter: no JSON, no such path, no such expectation. */
const UNHANDLED: readonly number[] = [429, 400, 404, 415, 417];

/** The longest kind is `anon-user`, what says who is at most 64 characters, and the rest is the application's. */
function expectSound(keys: readonly string[]): void {
  for (const key of keys) {
    expect(key).toMatch(
      /^\{(ip|user|key|anon-user|anon-key):[!-z|~]{1,64}\}:(GET|POST) \/(address|body|query|user|field)$/,
    );
    expect(key.length).toBeLessThanOrEqual('{anon-user:}:POST /address'.length + 64);
  }
}

describe('the hostile requests', () => {
  it('are two hundred at least, all of them different', () => {
    const requests = [...claims, ...Object.values(WHO_IN).flat(), ...WITHOUT_WHO, ...ALICE_AGAIN];
    const different = new Set(requests.map((request) => JSON.stringify(request)));
    expect(different.size).toBe(requests.length);
    expect(different.size).toBeGreaterThanOrEqual(200);
  });
});

describe.each(PLATFORMS)('a hostile client of an application on %s', (platform) => {
  const start = useApps();

  it('has the address of its connection, whatever it claims', async () => {
    const app = await start(platform, parts);

    expect(await statuses(app, [{ target: 'GET /address' }])).toEqual([200]);
    for (const claim of claims) expect([claim, await sendRaw(app.url, claim)]).toEqual([claim, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{ip:127.0.0.1}:GET /address']));
    expect(app.store.consumed).toHaveLength(1 + claims.length);
  });

  it('has the address that its proxy saw, whatever it claims before it', async () => {
    const app = await start(platform, { ...parts, trustProxy: 'loopback' });
    const clients = CLAIMED_ADDRESSES.map((_, i) => `203.0.113.${i}`);

    for (const [i, claimed] of CLAIMED_ADDRESSES.entries()) {
      const client = clients[i]!;
      const requests = [via(client, claimed), via(client), via(client, claimed, '192.0.2.1'), via(client, claimed)];
      expect([claimed, await statuses(app, requests)]).toEqual([claimed, [200, 429, 429, 429]]);
    }
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(clients.map((client) => `{ip:${client}}:GET /address`)));
  });

  it('shares no budget with another one behind the proxy, however their addresses are written', async () => {
    const app = await start(platform, { ...parts, trustProxy: 'loopback' });
    const isClient = (address: string): boolean => !/[, ]|^$|^127\.|^::1$/.test(address);
    const sameHost = ['198.51.100.1:8080', '198.51.100.1:99999', '::ffff:198.51.100.1', '::ffff:c633:6401'];
    const sameNetwork = ['2001:DB8:0:0::1', '[2001:db8::1]', '[2001:db8::1]:443'];
    const sameLink = ['fe80::1%25eth0', '[fe80::1%eth0]:80'];
    const same = [...sameHost, '0:0:0:0:0:ffff:c633:6401', '64:ff9b::c633:6401', ...sameNetwork, ...sameLink];
    const clients = CLAIMED_ADDRESSES.filter((address) => isClient(address) && !same.includes(address));

    expect(clients.length).toBeGreaterThan(30);
    for (const status of [200, 429]) {
      for (const client of clients) expect([client, await sendRaw(app.url, via(client))]).toEqual([client, status]);
    }
    const again = same.map((address) => via(address));
    expect(await statuses(app, again)).toEqual(all(again, 429));
    expectSound(app.store.chargedKeys);
  });

  it.each(['body', 'query', 'user', 'field'] as const)(
    'is told from all others by what its %s says, and once',
    async (where) => {
      const logger = new LogLines();
      const app = await start(platform, { ...parts, logger });
      const requests = WHO_IN[where];

      expect(await statuses(app, requests)).toEqual(all(requests, where === 'body' ? 201 : 200));
      expect(await statuses(app, requests)).toEqual(all(requests, 429));
      expect(new Set(app.store.chargedKeys).size).toBe(requests.length);
      expectSound(app.store.chargedKeys);
      expect(logger.matching(/^(warn|error)|\p{Cc}|\p{Cf}/u)).toEqual([]);
    },
  );

  it('is limited by its address when it does not say who it is', async () => {
    const app = await start(platform, parts);
    const plain = [{ target: 'POST /body', body: '{}' }, ...PLACES.slice(1).map((target) => ({ target }))];

    expect(await statuses(app, plain)).toEqual([201, 200, 200, 200]);
    for (const request of WITHOUT_WHO) {
      expect([request, UNHANDLED.includes(await sendRaw(app.url, request))]).toEqual([request, true]);
    }
    expect(new Set(app.store.chargedKeys)).toEqual(
      new Set(PLACES.map((place) => `{anon-${kindAt(place)}:127.0.0.1}:${place}`)),
    );
  });

  it('has no second budget for another way to say who it is', async () => {
    const app = await start(platform, parts);
    const alice = [
      { target: 'POST /body', body: '{"email":"alice"}' },
      { target: 'GET /query?name=alice' },
      { target: 'GET /user?name=alice' },
      { target: 'GET /field', fields: ['X-API-Key: alice'] },
    ];

    expect(await statuses(app, alice)).toEqual([201, 200, 200, 200]);
    for (const request of ALICE_AGAIN) {
      expect([request, UNHANDLED.includes(await sendRaw(app.url, request))]).toEqual([request, true]);
    }
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(PLACES.map((place) => `{${kindAt(place)}:alice}:${place}`)));
  });
});
