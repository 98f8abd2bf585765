import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { MemoryStore, RATE_LIMIT_STORE, RateLimit, RateLimitGuard, RateLimitModule } from 'nestjs-floodgate';
import { as, AuthenticationGuard } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { call, PLATFORMS } from '../support/nest-app.ts';
import { RecordingStore } from '../support/recording-store.ts';

@UseGuards(AuthenticationGuard)
@Controller()
class SharedController {
  @RateLimit({ limit: 2 }, { limit: 3, type: 'IP' })
  @Get('shared')
  get() {}
}

const controllers = [SharedController];
const path = '/shared';
/** What Nest finds on the handler itself. */
const guardsOfHandler = (): readonly unknown[] => {
  const { value } = Object.getOwnPropertyDescriptor(SharedController.prototype, 'get')!;
  return (Reflect.getMetadata('__guards__', value as object) ?? []) as unknown[];
};

describe.each(PLATFORMS)('applications of one process that share a controller on %s', (platform) => {
  const start = useApps();

  it('have budgets of their own', async () => {
    const [one, other] = [await start(platform, { controllers }), await start(platform, { controllers })];

    expect(await one.statuses(3, path, as('alice'))).toEqual([200, 200, 429]);
    expect(await other.statuses(3, path, as('alice'))).toEqual([200, 200, 429]);
  });

  it('charge each request once and in its own store, at both moments', async () => {
    const [one, other] = [await start(platform, { controllers }), await start(platform, { controllers })];
    await other.get(path, as('alice'));

    expect(one.store.consumed).toEqual([]);
    expect(other.store.chargedKeys).toEqual(['{ip:127.0.0.1}:GET /shared', '{method:GET /shared}']);
  });

  it('have rules of their own in the module', async () => {
    const [one, other] = [
      await start(platform, { controllers, options: { rules: [{ limit: 1 }] } }),
      await start(platform, { controllers, options: { enabled: false } }),
    ];

    expect(await one.statuses(2, path, as('alice'))).toEqual([200, 429]);
    expect(await other.statuses(4, path, as('alice'))).toEqual([200, 200, 200, 200]);
  });

  it('go on when one of them has closed', async () => {
    const [one, other] = [await start(platform, { controllers }), await start(platform, { controllers })];
    await one.close();

    expect(await other.statuses(3, path, as('alice'))).toEqual([200, 200, 429]);
  });

  it('leave nothing on the handler that grows with their number', async () => {
    await start(platform, { controllers });
    const guards = guardsOfHandler();
    for (let i = 0; i < 3; i++) await start(platform, { controllers });

    expect(guards).toHaveLength(1);
    expect(guardsOfHandler()).toEqual(guards);
  });

  it('include ones without the module, which limit nothing', async () => {
    await start(platform, { controllers });
    const unlimited = await start(platform, { controllers, imports: () => [] });

    expect(await unlimited.statuses(4, path, as('alice'))).toEqual([200, 200, 200, 200]);
  });
});

describe('a test of the application', () => {
  let app: INestApplication;
  afterEach(() => app.close());

  const overriddenBy = async (guard: object): Promise<string> => {
    const module = await Test.createTestingModule({ imports: [RateLimitModule.forRoot()], controllers })
      .overrideProvider(RateLimitGuard)
      .useValue(guard)
      .compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  };

  it('switches the limits off by overriding the guard', async () => {
    const url = await overriddenBy({ canActivate: () => true });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await call(url + path, 'GET', as('alice'))).status);

    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  it('has its own guard in place of ours, before the others', async () => {
    const url = await overriddenBy({ canActivate: () => false });

    expect((await call(url + path, 'GET')).status).toBe(403);
  });

  it('sees what is charged by overriding the store', async () => {
    const store = new RecordingStore(new MemoryStore());
    const module = await Test.createTestingModule({ imports: [RateLimitModule.forRoot()], controllers })
      .overrideProvider(RATE_LIMIT_STORE)
      .useValue(store)
      .compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    await call((await app.getUrl()) + path, 'GET', as('alice'));

    expect(store.chargedKeys).toEqual(['{ip:127.0.0.1}:GET /shared', '{method:GET /shared}']);
  });

  it('limits as the application does when it overrides nothing', async () => {
    const module = await Test.createTestingModule({ imports: [RateLimitModule.forRoot()], controllers }).compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await call(url + path, 'GET', as('alice'))).status);

    expect(statuses).toEqual([200, 200, 429]);
  });
});
