import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import {
  RateLimit,
  RateLimitConfigurationError,
  RateLimiter,
  RateLimitUnavailableException,
  StoreUnavailableError,
  type RateLimitModuleOptions,
  type RuleReference,
} from 'nestjs-floodgate';
import { BrokenStore } from '../support/broken-store.ts';
import { useApps } from '../support/limited-app.ts';

class TwiceBase {
  @RateLimit({ name: 'twice' }, { name: 'one-bucket', bucket: 'shared', window: '1m' })
  @Get()
  get() {}
}

@Controller('left')
class LeftController extends TwiceBase {}

@Controller('right')
class RightController extends TwiceBase {}

@Controller()
class NamedController {
  @RateLimit({ name: 'sale', limit: 2 }, { name: 'door', type: 'IP' })
  @Get('sale')
  sale() {}

  @RateLimit({ name: 'dynamic-limit', limit: () => 5 })
  @Get('dynamic-limit')
  dynamicLimit() {}

  @RateLimit({ name: 'dynamic-window', window: () => 5 })
  @Get('dynamic-window')
  dynamicWindow() {}

  @RateLimit({ name: 'dynamic-cost', cost: () => 5 })
  @Get('dynamic-cost')
  dynamicCost() {}
}

const controllers = [NamedController, LeftController, RightController];

describe('the limiter service', () => {
  const start = useApps();
  const limiterWith = async (options: RateLimitModuleOptions = {}): Promise<RateLimiter> =>
    (await start('express', { controllers, options })).app.get(RateLimiter);

  it.each<[string, RuleReference, string, RegExp]>([
    ['a name that no rule has', 'unknown', 'alice', /no rule.*"unknown"/],
    ['a name that is that of a property', '__proto__', 'alice', /no rule.*"__proto__"/],
    ['no name', '', 'alice', /no rule/],
    ['a name of several budgets', 'twice', 'alice', /several rules.*"twice".*bucket/],
    ['a rule whose limit is a function', 'dynamic-limit', '', /NamedController\.dynamicLimit.*functions/],
    ['a rule whose window is a function', 'dynamic-window', '', /NamedController\.dynamicWindow.*functions/],
    ['a rule whose cost is a function', 'dynamic-cost', '', /NamedController\.dynamicCost.*functions/],
    ['a rule of its own with a function', { name: 'own', limit: () => 5 }, 'alice', /RateLimiter \(.*functions/],
    ['no identity', 'door', '', /NamedController\.sale \(door\).*identity.*got ""/],
    ['no identity for a rule of its own', { name: 'own' }, '', /RateLimiter \(own\).*identity.*got ""/],
    ['an identity that is no text', 'door', 42 as unknown as string, /identity.*got 42/],
    ['an identity that is missing', 'door', undefined as unknown as string, /identity.*got undefined/],
  ])('asks for what it can judge: %s', async (_, rule, identity, message) => {
    const limiter = await limiterWith();

    for (const ask of ['consume', 'peek', 'reset'] as const) {
      await expect(limiter[ask](rule, identity)).rejects.toThrow(message);
    }
  });

  it.each<unknown>([-1, 1.5, NaN, 1_000_000_001, 'many', {}])(
    'asks for a cost that can be taken, not %j',
    async (cost) => {
      const limiter = await limiterWith();
      const options = { cost: cost as number };

      await expect(limiter.consume('sale', '', options)).rejects.toThrow(/NamedController\.sale \(sale\): cost .*got/);
      await expect(limiter.peek('sale', '', options)).rejects.toThrow(/NamedController\.sale \(sale\): cost .*got/);
    },
  );

  it('takes a cost from the environment, as rules do', async () => {
    const limiter = await limiterWith();

    expect(await limiter.consume('sale', '', { cost: '2' as unknown as number })).toMatchObject({
      allowed: true,
      budgets: [{ remaining: 0 }],
    });
  });

  it.each<[string, RuleReference, RegExp]>([
    ['limit', { name: 'own', limit: 0 }, /RateLimiter: limit .*got 0/],
    ['option', { name: 'own', ttl: 5 } as RuleReference, /RateLimiter: ttl .*got 5/],
    ['kind of identity', { name: 'own', type: 'IP', key: () => 'x' } as RuleReference, /RateLimiter: .*\bkey\b/],
    ['name or bucket', { limit: 5 }, /RateLimiter: .*name or a bucket/],
    ['name, since a declared rule has it', { name: 'sale', limit: 5 }, /RateLimiter: .*declared.*"sale"/],
  ])('finds the faults of a rule of its own: no good %s', async (_, rule, message) => {
    const limiter = await limiterWith();
    const error: unknown = await limiter.consume(rule, 'alice').catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(RateLimitConfigurationError);
    expect((error as Error).message).toMatch(message);
  });

  it('accepts a name of several rules that share one bucket', async () => {
    expect(await (await limiterWith()).consume('one-bucket', '')).toMatchObject({ allowed: true });
  });

  it('refuses nothing and takes nothing when limits are switched off', async () => {
    const limiter = await limiterWith({ enabled: false });
    for (let i = 0; i < 3; i++) {
      const decision = await limiter.consume('sale', '');
      expect(decision).toEqual({ allowed: true, id: expect.any(String), budgets: [] });
      if (decision.allowed) await limiter.refund(decision);
    }

    expect(await limiter.peek('sale', '')).toEqual({ allowed: true, budgets: [] });
    await limiter.reset('sale', '');
  });

  it('finds faults in what it is asked when limits are switched off, too', async () => {
    const limiter = await limiterWith({ enabled: false });

    for (const ask of ['consume', 'peek', 'reset'] as const) {
      await expect(limiter[ask]('unknown', 'alice')).rejects.toThrow(/no rule/);
    }
  });
});

describe('the limiter service without its store', () => {
  const start = useApps();
  const limiterWith = async (onStoreError: 'allow' | 'deny'): Promise<RateLimiter> =>
    (await start('express', { controllers, options: { store: new BrokenStore(), onStoreError } })).app.get(RateLimiter);

  it('admits by policy, and knows no budgets', async () => {
    const limiter = await limiterWith('allow');

    expect(await limiter.consume('sale', '')).toEqual({
      allowed: true,
      id: expect.any(String),
      budgets: [],
      decidedBy: 'policy',
    });
    expect(await limiter.peek('sale', '')).toEqual({ allowed: true, budgets: [] });
  });

  it('is unavailable by policy, which is no refusal', async () => {
    const limiter = await limiterWith('deny');

    await expect(limiter.consume('sale', '')).rejects.toThrow(RateLimitUnavailableException);
    await expect(limiter.peek('sale', '')).rejects.toThrow(RateLimitUnavailableException);
  });

  it('follows the policy of a rule of its own', async () => {
    const limiter = await limiterWith('allow');
    const rule = { name: 'own', onStoreError: 'deny' } as const;

    await expect(limiter.consume(rule, 'alice')).rejects.toThrow(RateLimitUnavailableException);
  });

  it('says that it could not give back or make whole', async () => {
    const limiter = await limiterWith('allow');
    const charge = { key: 'k', limit: 1, windowMs: 1, cost: 1, remaining: 0, resetAfterMs: 1 };

    await expect(limiter.refund({ allowed: true, id: 'call', budgets: [charge] })).rejects.toThrow(
      StoreUnavailableError,
    );
    await expect(limiter.reset('sale', '')).rejects.toThrow(StoreUnavailableError);
  });
});
