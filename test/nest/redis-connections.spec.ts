import { afterAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, UseGuards, type CanActivate } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { RateLimit, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { eventually } from '../support/eventually.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';
import { freePort } from '../support/redis-server.ts';
import { startMessageOfOptions } from '../support/start-error.ts';

@Controller()
class CountedController {
  @RateLimit({ limit: 2, window: '1m' })
  @Get('counted')
  get() {}
}

const controllers = [CountedController];
/** Nothing here is about answering in time, and the machine that runs the tests may be busy. */
const PATIENT = { decisionTimeout: '30s' } as const;

/** Holds a request until the test lets it pass. */
class Gate {
  open!: () => void;
  reach!: () => void;
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve));
  readonly reached = new Promise<void>((resolve) => (this.reach = resolve));

  async pass(): Promise<boolean> {
    this.reach();
    await this.#opened;
    return true;
  }
}

@Injectable()
class GateGuard implements CanActivate {
  constructor(@Inject(Gate) private readonly gate: Gate) {}

  canActivate(): Promise<boolean> {
    return this.gate.pass();
  }
}

@UseGuards(GateGuard)
@Controller()
class PatientController {
  @RateLimit({ limit: 2, window: '1m' })
  @Get('patient')
  get() {}
}

describe('a connection that the module opens', () => {
  const redis = useRedis();
  const start = useApps();

  const connectionsNamed = async (name: string): Promise<number> => {
    const list = (await redis.client.client('LIST')) as string;
    return list.split('\n').filter((line) => line.includes(`name=${name} `)).length;
  };
  const { hostname: host, port } = new URL(redis.url);
  const named = (connectionName: string): RateLimitModuleOptions => ({
    ...PATIENT,
    keyPrefix: redis.keyPrefix,
    redis: { host, port: Number(port), connectionName },
  });
  const freshName = () => `floodgate-${randomBytes(6).toString('hex')}`;

  it('decides, and ends with the application', async () => {
    const name = freshName();
    const app = await start('express', { controllers, options: named(name) });
    expect(await app.statuses(3, '/counted')).toEqual([200, 200, 429]);
    expect(await connectionsNamed(name)).toBe(1);
    await app.close();

    await eventually(async () => (await connectionsNamed(name)) === 0);
  });

  it('may be given as a URL', async () => {
    const options = { ...PATIENT, redis: redis.url, keyPrefix: redis.keyPrefix };
    const app = await start('fastify', { controllers, options });

    expect(await app.statuses(3, '/counted')).toEqual([200, 200, 429]);
    expect(await redis.keys()).toEqual([`${redis.keyPrefix}:{method:GET /counted}:60000`]);
  });

  it('is none when limits are switched off', async () => {
    const name = freshName();
    await start('express', { controllers, options: { ...named(name), enabled: false } });

    expect(await connectionsNamed(name)).toBe(0);
  });

  it.each(PLATFORMS)('stays open until the last request is answered on %s', async (platform) => {
    const gate = new Gate();
    const app = await start(platform, {
      controllers: [PatientController],
      providers: [{ provide: Gate, useValue: gate }],
      options: { ...named(freshName()), onStoreError: 'deny' },
    });
    // A connection that is kept alive would keep the server from closing.
    const answer = app.get('/patient', { headers: { connection: 'close' } });
    await gate.reached;
    const closed = app.close();
    gate.open();

    expect((await answer).status).toBe(200);
    await closed;
    expect(await redis.keys()).toHaveLength(1);
  });

  it('does not keep the application from starting when there is no Redis', async () => {
    const options = { redis: `redis://127.0.0.1:${await freePort()}` };
    const app = await start('express', { controllers, options });

    expect(await app.statuses(3, '/counted')).toEqual([200, 200, 429]);
  });
});

describe('a client that the application owns', () => {
  const redis = useRedis();
  const start = useApps();
  const clients: Redis[] = [];
  const clientOfApplication = (options = {}): Redis => {
    const client = new Redis(redis.url, { ...options });
    clients.push(client);
    return client;
  };
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.quit()));
  });

  it('decides, and is as usable after the application has closed', async () => {
    const client = clientOfApplication();
    const app = await start('express', {
      controllers,
      options: { ...PATIENT, redis: client, keyPrefix: redis.keyPrefix },
    });
    expect(await app.statuses(3, '/counted')).toEqual([200, 200, 429]);
    await app.close();

    expect(client.status).toBe('ready');
    expect(await client.ping()).toBe('PONG');
  });

  it('is connected by us when it waits to be', async () => {
    const client = clientOfApplication({ lazyConnect: true });
    const app = await start('express', {
      controllers,
      options: { ...PATIENT, redis: client, keyPrefix: redis.keyPrefix },
    });

    expect(await app.statuses(3, '/counted')).toEqual([200, 200, 429]);
  });

  it('fails the start when it was closed already', async () => {
    const client = new Redis(redis.url, { lazyConnect: true });
    client.disconnect();

    expect(await startMessageOfOptions({ redis: client })).toMatch(/option redis .*closed.*got "end"/);
  });

  it('adds its own key prefix to ours', async () => {
    const client = clientOfApplication({ keyPrefix: 'theirs:' });
    const app = await start('express', {
      controllers,
      options: { ...PATIENT, redis: client, keyPrefix: redis.keyPrefix },
    });

    expect(await app.statuses(3, '/counted')).toEqual([200, 200, 429]);
    expect(await redis.keys()).toEqual([`theirs:${redis.keyPrefix}:{method:GET /counted}:60000`]);
  });

  it('keeps none of our listeners', async () => {
    const client = clientOfApplication({ lazyConnect: true });
    const listeners = () => client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const before = listeners();
    const app = await start('express', {
      controllers,
      options: { ...PATIENT, redis: client, keyPrefix: redis.keyPrefix },
    });
    await app.close();

    expect(listeners()).toEqual(before);
  });
});
