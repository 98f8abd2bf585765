import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { RateLimit, RateLimiter, type Allowed, type Decision, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { as, AuthenticationGuard, from, requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { useRedis } from '../support/redis.ts';

@Controller()
class LimiterController {
  @RateLimit({ name: 'sale', limit: 2 })
  @Get('sale')
  sale() {}

  @RateLimit({ name: 'door', limit: 2, type: 'IP' })
  @Get('door')
  door() {}

  @UseGuards(AuthenticationGuard)
  @RateLimit({ name: 'desk', limit: 2, type: 'USER' })
  @Get('desk')
  desk() {}

  @RateLimit({ name: 'tenant', limit: 2, key: (context) => requestOf(context).headers['x-tenant'] })
  @Get('tenant')
  tenant() {}

  @RateLimit({ name: 'mail', bucket: 'mail', limit: 2, type: 'IP' })
  @Get('mail')
  mail() {}

  @RateLimit({ name: 'export', limit: 10, cost: 4 })
  @Get('export')
  export() {}
}

const controllers = [LimiterController];

const taken = (decision: Decision): Allowed => {
  expect(decision.allowed).toBe(true);
  return decision as Allowed;
};

describe.each(['in process', 'in Redis'])('the limiter service, with budgets %s', (where) => {
  const redis = useRedis();
  const start = useApps();

  const startWithLimiter = async (rules: RateLimitModuleOptions['rules'] = []) => {
    const inRedis = { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' };
    const options = { ...(where === 'in Redis' && inRedis), rules };
    const app = await start('express', { controllers, options, trustProxy: true });
    return { ...app, limiter: app.app.get(RateLimiter) };
  };

  it('shares the budget of a METHOD rule with its route', async () => {
    const { limiter, statuses } = await startWithLimiter();
    await limiter.consume('sale', '');

    expect(await statuses(2, '/sale')).toEqual([200, 429]);
    expect(await limiter.consume('sale', 'whoever')).toMatchObject({ allowed: false });
  });

  it.each(['203.0.113.7', '[::ffff:203.0.113.7]:80', '::FFFF:cb00:7107'])(
    'shares the budget of an IP rule with its route, as %s',
    async (address) => {
      const { limiter, statuses } = await startWithLimiter();
      await limiter.consume('door', address);

      expect(await statuses(2, '/door', from('203.0.113.7'))).toEqual([200, 429]);
      expect(await limiter.consume('door', '203.0.113.8')).toMatchObject({ allowed: true });
    },
  );

  it('shares the budget of a USER rule with its route', async () => {
    const { limiter, statuses } = await startWithLimiter();
    await limiter.consume('desk', 'alice');

    expect(await statuses(2, '/desk', as('alice'))).toEqual([200, 429]);
    expect(await statuses(3, '/desk', as('bob'))).toEqual([200, 200, 429]);
  });

  it('shares the budget of a key rule with its route', async () => {
    const { limiter, statuses } = await startWithLimiter();
    await limiter.consume('tenant', 'acme');

    expect(await statuses(2, '/tenant', { headers: { 'x-tenant': 'acme' } })).toEqual([200, 429]);
  });

  it('shares a bucket with a route, by name and by a rule of its own', async () => {
    const { limiter, statuses } = await startWithLimiter();
    await limiter.consume({ bucket: 'mail', limit: 2, type: 'IP' }, '203.0.113.7');

    expect(await statuses(1, '/mail', from('203.0.113.7'))).toEqual([200]);
    expect(await limiter.consume('mail', '203.0.113.7')).toMatchObject({ allowed: false });
    expect(await limiter.consume({ bucket: 'mail', limit: 3, type: 'IP' }, '203.0.113.7')).toMatchObject({
      allowed: true,
    });
  });

  it('shares the budget of a rule of the module with the application', async () => {
    const { limiter, statuses } = await startWithLimiter([{ name: 'all', limit: 3, window: '1m' }]);
    await limiter.consume('all', '');
    await statuses(1, '/sale');

    expect(await statuses(2, '/door')).toEqual([200, 429]);
  });

  it('tells without taking what consuming would answer', async () => {
    const { limiter, statuses } = await startWithLimiter();
    for (let i = 0; i < 3; i++) expect(await limiter.peek('sale', '')).toMatchObject({ allowed: true });
    await statuses(2, '/sale');

    expect(await limiter.peek('sale', '')).toMatchObject({
      allowed: false,
      refusedBy: [{ rule: 'sale', limit: 2, remaining: 0 }],
      retryAfterMs: expect.any(Number),
    });
  });

  it('gives back what a decision took, and that alone', async () => {
    const { limiter, statuses } = await startWithLimiter();
    const decision = taken(await limiter.consume('sale', ''));
    await statuses(1, '/sale');
    await limiter.refund(decision);
    await limiter.refund(decision);

    expect(await statuses(2, '/sale')).toEqual([200, 429]);
  });

  it('makes a budget whole that routes have used up, and no other', async () => {
    const { limiter, statuses } = await startWithLimiter();
    await statuses(2, '/door', from('203.0.113.7'));
    await statuses(2, '/door', from('203.0.113.8'));
    await limiter.reset('door', '203.0.113.7');

    expect(await statuses(3, '/door', from('203.0.113.7'))).toEqual([200, 200, 429]);
    expect(await statuses(1, '/door', from('203.0.113.8'))).toEqual([429]);
  });

  it('takes the cost of the rule, or the one that it is given', async () => {
    const { limiter, statuses } = await startWithLimiter();
    expect(taken(await limiter.consume('export', '')).budgets).toMatchObject([{ cost: 4, remaining: 6 }]);
    expect(taken(await limiter.consume('export', '', { cost: 3 })).budgets).toMatchObject([{ cost: 3, remaining: 3 }]);

    expect(await limiter.peek('export', '', { cost: 3 })).toMatchObject({ allowed: true });
    expect(await limiter.peek('export', '')).toMatchObject({ allowed: false });
    expect(await statuses(1, '/export')).toEqual([429]);
  });

  it('refuses a cost above the limit without a time to come back', async () => {
    const { limiter } = await startWithLimiter();
    const denied = await limiter.consume('sale', '', { cost: 3 });

    expect(denied.allowed).toBe(false);
    expect(denied).not.toHaveProperty('retryAfterMs');
  });

  it('has a budget for each identity of a rule of its own', async () => {
    const { limiter } = await startWithLimiter();
    const login = (who: string) => limiter.consume({ name: 'login', limit: 1 }, who);

    expect(await login('alice')).toMatchObject({
      allowed: true,
      budgets: [{ key: expect.stringMatching(/^\{key:alice\}:.*login$/) }],
    });
    expect(await login('alice')).toMatchObject({ allowed: false });
    expect(await login('bob')).toMatchObject({ allowed: true });
  });

  it('has one budget for everybody for a METHOD rule of its own', async () => {
    const { limiter } = await startWithLimiter();
    const rule = { name: 'job', limit: 1, type: 'METHOD' } as const;

    expect((await limiter.consume(rule, '')).allowed).toBe(true);
    expect((await limiter.consume(rule, 'anything')).allowed).toBe(false);
  });

  it('takes exactly what there is, whatever is asked at once', async () => {
    const { limiter } = await startWithLimiter();
    const decisions = await Promise.all(
      Array.from({ length: 50 }, () => limiter.consume({ name: 'burst', limit: 7, window: '1m' }, 'alice')),
    );

    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(7);
  });
});

describe('a refusal by the limiter service', () => {
  const start = useApps();

  it('tells the moment from which the next call succeeds', async () => {
    const app = await start('express', { controllers });
    const limiter = app.app.get(RateLimiter);
    await limiter.consume('sale', '');
    app.clock.advance(3_300);
    await limiter.consume('sale', '');
    const denied = await limiter.consume('sale', '');
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 6_700 });

    app.clock.advance(6_699);
    expect(await limiter.consume('sale', '')).toMatchObject({ allowed: false, retryAfterMs: 1 });
    app.clock.advance(1);
    expect(await limiter.consume('sale', '')).toMatchObject({ allowed: true });
  });
});
