import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { RateLimit, RateLimiter, type RateLimitModuleOptions, type RuleOverrides } from 'nestjs-floodgate';
import { BehaviorSubject, Subject } from 'rxjs';
import { eventually } from '../support/eventually.ts';
import { LogLines } from '../support/log-lines.ts';
import { rootModule, useApps } from '../support/limited-app.ts';
import { PLATFORMS, startApp } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

@Controller()
class SaleController {
  @RateLimit({ name: 'sale', limit: 2, window: '1m', message: 'Sold out for now.' })
  @Get('sale')
  sale() {}

  @RateLimit({ name: 'door', limit: 1, window: '1m', type: 'IP', mode: 'shadow' })
  @Get('door')
  door() {}

  @RateLimit({ limit: 2, window: '1m' })
  @Get('unnamed')
  unnamed() {}
}

@Controller('books')
class BooksController {
  @RateLimit({ name: 'reads', limit: 1, window: '1m' })
  @Get()
  list() {}
}

@Controller('films')
class FilmsController {
  @RateLimit({ name: 'reads', limit: 1, window: '2m', message: 'Come back later.' })
  @Get()
  list() {}
}

const controllers = [SaleController, BooksController, FilmsController];
const WHERE = ['in process', 'in Redis'] as const;
const CASES = PLATFORMS.flatMap((platform) => WHERE.map((where) => [platform, where] as const));

describe.each(CASES)('a rule that changes while it is in force, on %s, with budgets %s', (platform, where) => {
  const redis = useRedis();
  const startApps = useApps();
  const inRedis = { redis: redis.url, keyPrefix: redis.keyPrefix, liveRules: true, decisionTimeout: '30s' } as const;
  const start = async (options: RateLimitModuleOptions = {}, logger = new LogLines()) => {
    const all = { ...(where === 'in Redis' && inRedis), ...options };
    const app = await startApps(platform, { controllers, options: all, logger });
    return { ...app, logger, rules: app.app.get(RateLimiter).rules };
  };

  it('admits by a limit that was raised, and what was admitted before counts', async () => {
    const { rules, statuses } = await start();
    expect(await statuses(3, '/sale')).toEqual([200, 200, 429]);
    await rules.override('sale', { limit: 4 });
    expect(await statuses(3, '/sale')).toEqual([200, 200, 429]);
    await rules.override('sale', { limit: 3 });
    expect(await statuses(1, '/sale')).toEqual([429]);
  });

  it('tells the limit and the message in force to clients, and those of the code when it is cleared', async () => {
    const { rules, get } = await start();
    await rules.override('sale', { limit: '1', message: 'One each today.' });
    expect((await get('/sale')).headers.get('x-ratelimit-limit')).toBe('1');
    const refused = await get('/sale');
    expect(refused.json).toMatchObject({ statusCode: 429, message: 'One each today.', rule: 'sale', limit: 1 });
    expect(refused.headers.get('x-ratelimit-limit')).toBe('1');
    await rules.clear('sale');
    expect((await get('/sale')).headers.get('x-ratelimit-limit')).toBe('2');
    expect((await get('/sale')).json).toMatchObject({ message: 'Sold out for now.', limit: 2 });
  });

  it('judges both windows in one call while a window changes, and gives both back together', async () => {
    const { app, rules, statuses } = await start();
    expect(await statuses(1, '/sale')).toEqual([200]);
    await rules.override('sale', { limit: 5, window: '2m' });
    expect(rules.get('sale').formerWindowsMs).toEqual([60_000]);
    // One of the old window is taken already.
    expect(await statuses(2, '/sale')).toEqual([200, 429]);
    const limiter = app.get(RateLimiter);
    await limiter.reset('sale', '');
    const decision = await limiter.consume('sale', '');
    expect(decision.budgets.map(({ windowMs, limit, remaining }) => [windowMs, limit, remaining])).toEqual([
      [120_000, 5, 4],
      [60_000, 2, 1],
    ]);
    if (decision.allowed) await limiter.refund(decision);
    const preview = await limiter.peek('sale', '');
    expect(preview.budgets.map(({ remaining }) => remaining)).toEqual([5, 2]);
  });

  it('goes into shadow and out of it, and is enforced for a share of identities', async () => {
    const { app, rules, statuses } = await start();
    const told: string[] = [];
    app.get(RateLimiter).decisions$.subscribe(({ outcome }) => told.push(outcome));
    expect(await statuses(3, '/sale')).toEqual([200, 200, 429]);
    expect(await rules.override('sale', { mode: 'shadow' })).toMatchObject({ enforcePercent: 0, limit: 2 });
    expect(await statuses(3, '/sale')).toEqual([200, 200, 200]);
    await eventually(async () => told.filter((outcome) => outcome === 'shadow-refused').length === 1);
    await rules.override('sale', { limit: 3 });
    expect(await statuses(2, '/sale')).toEqual([200, 429]);

    expect(await statuses(2, '/door')).toEqual([200, 200]);
    await rules.override('door', { mode: 'enforce', limit: 1 });
    expect(await statuses(2, '/door')).toEqual([200, 429]);
    expect(await rules.override('door', { enforcePercent: '0' })).toMatchObject({ enforcePercent: 0 });
    expect(await statuses(2, '/door')).toEqual([200, 200]);
    await expect(rules.override('sale', { enforcePercent: 5 })).rejects.toThrow('METHOD rule has one only');
    await expect(rules.override('door', { mode: 'off' as 'shadow' })).rejects.toThrow('mode must be');
  });

  it('charges by a cost that was changed', async () => {
    const { rules, statuses } = await start();
    await rules.override('sale', { cost: 2 });
    expect(await statuses(2, '/sale')).toEqual([200, 429]);
  });

  it('tells what holds and where it comes from', async () => {
    const overrides = new BehaviorSubject<RuleOverrides>({});
    const { rules } = await start({ overrides });
    expect(rules.get('sale')).toEqual({
      name: 'sale',
      limit: 2,
      windowMs: 60_000,
      cost: 1,
      message: 'Sold out for now.',
      enforcePercent: 100,
      origin: 'code',
      formerWindowsMs: [],
    });
    overrides.next({ sale: { limit: 3 } });
    expect(rules.get('sale')).toMatchObject({ limit: 3, origin: 'overrides', override: { limit: 3 } });
    const changed = await rules.override('sale', { cost: 2 });
    // As a whole: the limit of the Observable does not shine through.
    expect(changed).toMatchObject({ limit: 2, cost: 2, origin: 'rules', override: { cost: 2 }, version: 1 });
    overrides.next({ sale: { limit: 9 } });
    expect(rules.get('sale')).toMatchObject({ limit: 2, cost: 2, origin: 'rules' });
    expect(await rules.clear('sale')).toMatchObject({ limit: 9, cost: 1, origin: 'overrides', version: 2 });
    overrides.next({});
    expect(rules.get('sale')).toMatchObject({ limit: 2, origin: 'code' });
  });

  it('changes all rules of a name, and tells what they have in common', async () => {
    const { rules, statuses } = await start();
    const changed = await rules.override('reads', { limit: 2 });

    expect(changed).toMatchObject({ limit: 2, windowMs: undefined, message: undefined, origin: 'rules' });
    expect(await statuses(3, '/books')).toEqual([200, 200, 429]);
    expect(await statuses(3, '/films')).toEqual([200, 200, 429]);
    expect(await rules.override('reads', { window: '4m' })).toMatchObject({
      windowMs: 240_000,
      formerWindowsMs: [60_000, 120_000],
    });
    expect(await rules.clear('reads')).toMatchObject({ limit: 1, origin: 'code' });
  });

  it('rejects an override whole, with every reason, in the promise and in the log', async () => {
    const { rules, logger, statuses } = await start();
    const attempt = rules.override('sale', { limit: 0, window: 'soon', cost: 1 } as object);
    await expect(attempt).rejects.toThrow(/window must be .* got "soon"[^]*limit must be .* got 0/);
    await expect(rules.override('sale', { type: 'IP' } as object)).rejects.toThrow('type cannot be overridden');
    await expect(rules.override('sale', { limit: () => 3 } as object)).rejects.toThrow('limit must be a value here');
    await expect(rules.override('sale', {})).rejects.toThrow('must change something');
    await expect(rules.override('sale', null as never)).rejects.toThrow('must be an object, got null');
    await expect(rules.override('sale', { cost: 3 })).rejects.toThrow('cost must not be above the limit of 2');
    await expect(rules.override('nowhere', { limit: 3 })).rejects.toThrow(/no rule is named "nowhere"/);
    await expect(rules.clear('nowhere')).rejects.toThrow(/no rule is named "nowhere"/);
    expect(() => rules.get('nowhere')).toThrow(/no rule is named "nowhere"/);
    expect(logger.matching(/The override of the rule "sale" was rejected/)).toHaveLength(6);
    expect(await statuses(3, '/sale')).toEqual([200, 200, 429]);
  });

  it('takes in each set that the Observable gives, and keeps the last one when it ends', async () => {
    const overrides = new Subject<RuleOverrides>();
    const { rules, logger } = await start({ overrides });
    overrides.next({ sale: { limit: 7 } });
    expect(rules.get('sale').limit).toBe(7);
    overrides.error(new Error('the file is gone'));
    expect(rules.get('sale').limit).toBe(7);
    expect(logger.matching(/Observable of overrides failed.*the file is gone/)).toHaveLength(1);
  });

  it('keeps the last good override of a rule that the Observable gives a faulty one, told once', async () => {
    const overrides = new Subject<RuleOverrides>();
    const { rules, logger } = await start({ overrides });
    overrides.next({ sale: { limit: 7 } });
    overrides.next({ sale: { limit: -1 }, elsewhere: { limit: 3 } });
    overrides.next({ sale: { limit: -1 }, elsewhere: { limit: 3 } });
    overrides.next({ sale: 5 } as never);
    overrides.next('nonsense' as never);
    expect(rules.get('sale').limit).toBe(7);
    expect(logger.matching(/"sale" was rejected.*limit must be/)).toHaveLength(1);
    expect(logger.matching(/"sale" was rejected.*must be an object/)).toHaveLength(1);
    expect(logger.matching(/"elsewhere" was rejected.*no rule is named/)).toHaveLength(1);
    expect(logger.matching(/Overrides must be an object.*"nonsense"/)).toHaveLength(1);
    await rules.override('sale', { limit: 5 });
    overrides.next({ sale: { limit: -2 } });
    expect((await rules.clear('sale')).limit).toBe(7);
    overrides.complete();
    expect(logger.matching(/Observable of overrides completed/)).toHaveLength(1);
  });

  it('begins with what the Observable gives at once', async () => {
    const { statuses } = await start({ overrides: new BehaviorSubject({ sale: { limit: 1 } }) });
    expect(await statuses(2, '/sale')).toEqual([200, 429]);
  });

  it('leaves the Observable when the application closes', async () => {
    const overrides = new Subject<RuleOverrides>();
    const options = { ...(where === 'in Redis' && inRedis), overrides };
    const app = await startApp(rootModule({ controllers, options }), platform);
    expect(overrides.observed).toBe(true);
    await app.close();
    expect(overrides.observed).toBe(false);
  });
});
