import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { RateLimit, tiers, type RateLimitModuleOptions, type RateLimitOptions } from 'nestjs-floodgate';
import { as, requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const planOf = (context: ExecutionContext) => requestOf(context).headers['x-plan'] as string | undefined;
const withPlan = (plan: string) => ({ headers: { 'x-plan': plan } });

/** Knows the user if there is one, and lets everybody in. */
@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const id = request.headers['x-user'];
    if (id !== undefined) request.user = { id };
    return true;
  }
}

function limitedBy(...rules: readonly RateLimitOptions[]) {
  @Controller()
  class TieredController {
    @RateLimit(...rules)
    @UseGuards(UserGuard)
    @Get('tiered')
    get() {}
  }
  return [TieredController];
}

/** A function that counts how often it is asked. */
function counted<T>(find: (context: ExecutionContext) => T) {
  const asked = { times: 0 };
  const count = (context: ExecutionContext): T => {
    asked.times++;
    return find(context);
  };
  return Object.assign(count, { asked });
}

const STORES = ['in process', 'in Redis'] as const;

describe.each(PLATFORMS)('limits by tier on %s', (platform) => {
  const redis = useRedis();
  const start = useApps();
  const optionsOf = (store: (typeof STORES)[number]): RateLimitModuleOptions =>
    store === 'in Redis'
      ? { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s', onStoreError: 'deny' }
      : {};

  it.each(STORES)('are those of the tier of each request, %s', async (store) => {
    const limit = tiers({ free: 1, vip: 3 }, planOf);
    const app = await start(platform, {
      controllers: limitedBy({ window: '1m', limit, type: 'IP' }),
      options: optionsOf(store),
    });

    expect(await app.statuses(2, '/tiered', withPlan('free'))).toEqual([200, 429]);
    expect(await app.statuses(3, '/tiered', withPlan('vip'))).toEqual([200, 200, 429]);
  });

  it('give windows and costs too, in the forms that these take, by a function that may be async', async () => {
    const slowPlanOf = async (context: ExecutionContext) => planOf(context);
    const rule: RateLimitOptions = {
      type: 'IP',
      limit: tiers({ free: '10', vip: 100 }, slowPlanOf),
      window: tiers({ free: '1m', vip: 0.5 }, slowPlanOf),
      cost: tiers({ free: 10, vip: '2' }, slowPlanOf),
    };
    const app = await start(platform, { controllers: limitedBy(rule) });
    await app.get('/tiered', withPlan('free'));
    await app.get('/tiered', withPlan('vip'));

    expect(app.store.consumed.map(({ charges: [charge] }) => charge)).toEqual([
      expect.objectContaining({ limit: 10, windowMs: 60_000, cost: 10 }),
      expect.objectContaining({ limit: 100, windowMs: 500, cost: 2 }),
    ]);
  });

  it('may have numbers for names', async () => {
    const limit = tiers({ 1: 10, 2: 20 }, (context) => Number(planOf(context)));
    const app = await start(platform, { controllers: limitedBy({ limit, type: 'IP' }) });
    await app.get('/tiered', withPlan('2'));

    expect(app.store.consumed[0]!.charges[0]).toMatchObject({ limit: 20 });
  });

  it.each(['gold', '', 'Free', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'are those of otherwise where nobody wrote the tier: %j',
    async (plan) => {
      const limit = tiers({ free: 1, vip: 100 }, planOf, { otherwise: 'free' });
      const app = await start(platform, { controllers: limitedBy({ limit, type: 'IP' }) });

      expect(await app.statuses(2, '/tiered', withPlan(plan))).toEqual([200, 429]);
    },
  );

  it('are those of otherwise where the request has no tier', async () => {
    const limit = tiers({ free: 1, vip: 100 }, planOf, { otherwise: 'free' });
    const app = await start(platform, { controllers: limitedBy({ limit, type: 'IP' }) });

    expect(await app.statuses(2, '/tiered')).toEqual([200, 429]);
  });

  it.each(['gold', 'constructor', '__proto__'])(
    'cannot be judged for a tier that nobody wrote (%s), and the log tells it and those that there are',
    async (plan) => {
      const logger = new LogLines();
      const limit = tiers({ free: 1, vip: 100 }, planOf);
      const app = await start(platform, { controllers: limitedBy({ limit, type: 'IP' }), logger });

      expect(await app.statuses(3, '/tiered', withPlan(plan))).toEqual([200, 200, 200]);
      expect(logger.errors).toEqual([
        expect.stringMatching(
          new RegExp(`TieredController\\.get .*not limited by it.*limit: the tiers are free, vip, got .*${plan}`),
        ),
      ]);
    },
  );

  it('refuse as unavailable a tier that nobody wrote where the policy denies', async () => {
    const limit = tiers({ free: 1 }, planOf);
    const app = await start(platform, { controllers: limitedBy({ limit, onStoreError: 'deny' }) });
    const { status, text } = await app.get('/tiered', withPlan('gold'));

    expect(status).toBe(503);
    expect(text).not.toContain('gold');
  });

  it('tell a tier that a client made up escaped and cut, behind those that there are', async () => {
    const logger = new LogLines();
    const tierOf = () => `\u202eevil\n${'x'.repeat(10_000)}`;
    const app = await start(platform, { controllers: limitedBy({ limit: tiers({ free: 1 }, tierOf) }), logger });
    await app.get('/tiered');

    const [line] = logger.errors;
    expect(line).toContain('the tiers are free, got');
    expect(line).not.toMatch(/\u202e|evil\n/);
    expect(line!.length).toBeLessThan(500);
  });
});

describe.each(PLATFORMS)('the functions of rules on %s', (platform) => {
  const start = useApps();

  it('are asked once for a request, however many rules and options have them', async () => {
    const plan = counted(planOf);
    const limit = counted(async () => 50);
    const skip = counted(() => false);
    const key = counted(() => 'acme');
    const shared = { limit: tiers({ free: 10, vip: 100 }, plan), cost: tiers({ free: 2, vip: 1 }, plan), skip };
    const app = await start(platform, {
      controllers: limitedBy(
        { ...shared, name: 'a' },
        { ...shared, name: 'b' },
        { limit, skip, name: 'c', key, when: 'afterGuards' },
        { limit, skip, name: 'd', key, when: 'afterGuards' },
      ),
    });
    await app.get('/tiered', withPlan('free'));

    expect([plan, limit, skip, key].map(({ asked }) => asked.times)).toEqual([1, 1, 1, 1]);
    expect(app.store.consumed[0]!.charges.map((charge) => charge.limit)).toEqual([50, 50, 10, 10]);
    await app.get('/tiered', withPlan('vip'));
    expect([plan, limit, skip, key].map(({ asked }) => asked.times)).toEqual([2, 2, 2, 2]);
  });

  it('are asked again after the guards: only then there is a user', async () => {
    const limit = counted((context) => (requestOf(context).user ? 100 : 10));
    const rules = limitedBy({ limit, type: 'IP' }, { limit, type: 'USER' });
    const app = await start(platform, { controllers: rules });
    await app.get('/tiered', as('alice'));

    expect(limit.asked.times).toBe(2);
    expect(app.store.consumed.map(({ charges: [charge] }) => charge!.limit)).toEqual([10, 100]);
  });

  it('and the user of identity.user are asked once for all that count by user', async () => {
    const user = counted(async () => 'alice');
    const rules = limitedBy({ type: 'USER' }, { type: 'USER', window: '1h' });
    const app = await start(platform, { controllers: rules, options: { identity: { user } } });
    await app.get('/tiered');

    expect(user.asked.times).toBe(1);
    expect(app.store.consumed[0]!.charges).toHaveLength(2);
  });

  it.each([
    [
      'throws',
      () =>
        counted((): number => {
          throw new Error('broken');
        }),
    ],
    [
      'rejects',
      () =>
        counted(async (): Promise<number> => {
          throw new Error('broken');
        }),
    ],
  ])('fail all their rules at once: one that %s', async (_, make) => {
    const logger = new LogLines();
    const limit = make();
    const rules = limitedBy({ limit, name: 'a' }, { limit, name: 'b' }, { limit: 1, name: 'c' });
    const app = await start(platform, { controllers: rules, logger });

    expect(await app.statuses(2, '/tiered')).toEqual([200, 429]);
    expect(limit.asked.times).toBe(2);
    expect(logger.errors).toEqual([expect.stringContaining('(a)'), expect.stringContaining('(b)')]);
  });

  it('that give something to be awaited have it begun once', async () => {
    let begun = 0;
    // As query builders do: the query is sent when somebody awaits it.
    const query = () =>
      // oxlint-disable-next-line unicorn/no-thenable
      ({ then: (resolve: (value: number) => void) => resolve(++begun) }) as unknown as Promise<number>;
    const rules = limitedBy({ limit: query, name: 'a' }, { limit: query, name: 'b' });
    const app = await start(platform, { controllers: rules });
    await app.get('/tiered');

    expect(app.store.consumed[0]!.charges.map(({ limit }) => limit)).toEqual([1, 1]);
  });
});
