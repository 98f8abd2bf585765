import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { RateLimit, RateLimiter, type DecisionEvent, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { as, AuthenticationGuard } from '../support/authentication.ts';
import { FailingStore } from '../support/failing-store.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { DecisionStream } from '../../src/nest/decision-stream.ts';
import { hashedIdentity } from '../../src/nest/decision-event.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

@Controller()
class WatchedController {
  @RateLimit({ name: 'door', limit: 10, type: 'IP' })
  @Get('door')
  door() {}

  @RateLimit({ limit: 1, window: '1m', type: 'IP' })
  @Get('unnamed')
  unnamed() {}

  @RateLimit({ name: 'wide', limit: 100 }, { name: 'narrow', limit: 1 })
  @Get('both')
  both() {}

  @UseGuards(AuthenticationGuard)
  @RateLimit({ name: 'desk', limit: 2, type: 'USER' })
  @Get('desk')
  desk() {}

  @RateLimit({ name: 'strict', limit: 2, onStoreError: 'deny' })
  @Get('strict')
  strict() {}

  @RateLimit({ name: 'lax', limit: 2, onStoreError: 'allow' })
  @Get('lax')
  lax() {}

  @RateLimit({ name: 'alone', limit: 1, onStoreError: 'local' })
  @Get('alone')
  alone() {}
}

describe.each(PLATFORMS)('the stream of decisions, on %s', (platform) => {
  const redis = useRedis();
  const startApp = useApps();

  const start = async (options?: RateLimitModuleOptions) => {
    const logger = new LogLines();
    const app = await startApp(platform, { controllers: [WatchedController], logger, ...(options && { options }) });
    const events: DecisionEvent[] = [];
    const limiter = app.app.get(RateLimiter);
    const end: string[] = [];
    limiter.decisions$.subscribe({ next: (event) => events.push(event), complete: () => end.push('end') });
    const told = (): readonly string[] => events.map(({ rule, outcome, source }) => `${rule} ${outcome} by ${source}`);
    return { ...app, logger, limiter, events, end, told };
  };

  it('tells what each rule did, and of a refused call only those that refused', async () => {
    const { statuses, told } = await start();
    expect(await statuses(2, '/both')).toEqual([200, 429]);
    expect(told()).toEqual(['wide allowed by store', 'narrow allowed by store', 'narrow refused by store']);
  });

  it('tells limit, cost, what is left, and what the rule limits', async () => {
    const { get, events } = await start();
    await get('/unnamed');
    await get('/unnamed');
    const common = { rule: '1-per-1m', place: 'GET /unnamed', limit: 1, cost: 1, remaining: 0 };
    expect(events).toMatchObject([
      { ...common, outcome: 'allowed', isNearLimit: true },
      { ...common, outcome: 'refused', isNearLimit: false },
    ]);
    for (const { latencyMs } of events) expect(latencyMs).toBeGreaterThanOrEqual(0);
  });

  it('marks admitted calls that leave a fifth of the limit or less', async () => {
    const { statuses, events } = await start();
    await statuses(11, '/door');
    expect(events.map(({ remaining, isNearLimit }) => [remaining, isNearLimit])).toEqual([
      ...[9, 8, 7, 6, 5, 4, 3].map((remaining) => [remaining, false]),
      ...[2, 1, 0].map((remaining) => [remaining, true]),
      [0, false],
    ]);
  });

  it('tells identities apart by a hash, or as they are where the module says so', async () => {
    const hashed = await start();
    for (const user of ['alice', 'bob', 'alice']) await hashed.get('/desk', as(user));
    const [alice, bob, again] = hashed.events.map(({ identity }) => identity);
    expect(alice).toMatch(/^[\w-]{16}$/);
    expect(again).toBe(alice);
    expect(bob).not.toBe(alice);

    const plain = await start({ decisionIdentities: 'plain' });
    await plain.get('/desk', as('alice'));
    await plain.get('/both');
    expect(plain.events.map(({ identity }) => identity)).toEqual([
      'user:alice',
      'method:GET /both',
      'method:GET /both',
    ]);
  });

  it('tells of calls of the service too', async () => {
    const { limiter, told } = await start();
    const rule = { name: 'sms', limit: 1 };
    await limiter.consume(rule, 'alice');
    await limiter.consume(rule, 'alice');
    await limiter.peek(rule, 'alice');
    expect(told()).toEqual(['sms allowed by store', 'sms refused by store']);
  });

  it('tells which refusals were remembered', async () => {
    const { statuses, told } = await start({ redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' });
    await statuses(3, '/unnamed');
    const refusals = ['1-per-1m refused by store', '1-per-1m refused by cache'];
    expect(told()).toEqual(['1-per-1m allowed by store', ...refusals]);
  });

  it('tells what decided while the store could not', async () => {
    const store = new FailingStore();
    store.failure = 'busy';
    const { statuses, told } = await start({ store });
    expect(await statuses(1, '/lax')).toEqual([200]);
    expect(await statuses(1, '/strict')).toEqual([503]);
    expect(await statuses(2, '/alone')).toEqual([200, 429]);
    expect(told()).toEqual([
      'lax fallback-allowed by policy',
      'strict fallback-refused by policy',
      'alone fallback-allowed by local',
      'alone fallback-refused by local',
    ]);
  });

  it('is harmed by no subscriber, and harms no request', async () => {
    const { limiter, statuses, told, logger } = await start();
    limiter.decisions$.subscribe(() => {
      throw new Error('no subscriber of yours');
    });
    expect(await statuses(2, '/narrow-is-no-route')).toEqual([404, 404]);
    expect(await statuses(2, '/both')).toEqual([200, 429]);
    expect(told()).toHaveLength(3);
    expect(logger.matching(/RateLimiter\.decisions\$ failed: "?Error: no subscriber of yours/)).not.toHaveLength(0);
  });

  it('tells nothing to whoever has unsubscribed', async () => {
    const { limiter, statuses, events } = await start();
    const late: DecisionEvent[] = [];
    const subscription = limiter.decisions$.subscribe((event) => late.push(event));
    await statuses(1, '/door');
    subscription.unsubscribe();
    await statuses(1, '/door');
    expect([late.length, events.length]).toEqual([1, 2]);
  });

  it('ends when the application closes', async () => {
    const { end, close } = await start();
    await close();
    expect(end).toEqual(['end']);
  });

  it('refuses to start with an option that is none', async () => {
    const options = { decisionIdentities: 'none' } as unknown as RateLimitModuleOptions;
    await expect(start(options)).rejects.toThrow(
      'option decisionIdentities must be one of "hashed", "plain", got "none"',
    );
  });
});

describe('a stream of decisions that nobody listens to', () => {
  it('makes no event', async () => {
    const stream = new DecisionStream(hashedIdentity);
    const untouchable = new Proxy([], {
      get: () => {
        throw new Error('looked at');
      },
    });
    const allowed = { allowed: true, id: 'a', budgets: untouchable } as const;
    const ask = () => stream.observe(untouchable, () => Promise.resolve(allowed));
    expect((await ask()).decision).toBe(allowed);
    const subscription = stream.decisions$.subscribe();
    await expect(ask()).rejects.toThrow('looked at');
    subscription.unsubscribe();
    expect((await ask()).decision).toBe(allowed);
  });
});
