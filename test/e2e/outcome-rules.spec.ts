import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  Controller,
  Get,
  HttpException,
  Post,
  Query,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import { RateLimit, RateLimitGuard, type Outcome } from 'nestjs-floodgate';
import { as, AuthenticationGuard } from '../support/authentication.ts';
import { eventually } from '../support/eventually.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { emailOf, LocalAuthGuard, logIn } from '../support/log-ins.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';

class OpenGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

const outcomes: Outcome[] = [];

@Controller()
class RulesController {
  @RateLimit(
    { name: 'account', window: '15m', limit: 5, key: emailOf, count: 'failed' },
    { name: 'address', window: '15m', limit: 8, type: 'IP', count: 'failed' },
  )
  @UseGuards(LocalAuthGuard)
  @Post('login')
  logIn() {
    return { welcome: true };
  }

  @RateLimit(
    { window: '1m', limit: 2, type: 'IP', count: 'failed' },
    { window: '1m', limit: 1, count: 'succeeded', name: 'once' },
  )
  @UseGuards(AuthenticationGuard, OpenGuard)
  @Get('two-moments')
  twoMoments(@Query('status') status?: string) {
    if (status) throw new HttpException('as asked', Number(status));
  }

  @RateLimit({
    window: '1m',
    limit: 2,
    count: (outcome) => {
      outcomes.push(outcome);
      return outcome.error instanceof UnauthorizedException;
    },
  })
  @Get('by-function')
  byFunction(@Query('status') status?: string) {
    if (status === '401') throw new UnauthorizedException();
    if (status === '400') throw new BadRequestException();
  }

  @RateLimit({
    window: '1m',
    limit: 2,
    count: () => {
      throw new Error('no\nidea');
    },
  })
  @Get('failing-function')
  failingFunction() {}

  @RateLimit(
    { bucket: 'shared', window: '1m', limit: 3, count: 'failed' },
    { bucket: 'shared', window: '1m', limit: 3, count: 'all' },
    { name: 'alone', window: '1m', limit: 100, count: 'failed' },
  )
  @Get('one-bucket')
  oneBucket() {}

  @RateLimit({ window: '1m', limit: 200, count: 'failed' })
  @Get('large')
  large() {}

  @RateLimit({ window: '1m', limit: () => 200, count: 'failed' })
  @Get('large-by-function')
  largeByFunction() {}

  @RateLimit({ window: '1m', limit: 1, count: 'failed', skip: () => true }, { window: '1m', limit: 50, type: 'IP' })
  @Get('skipped')
  skipped() {}

  @RateLimit({ window: '1m', limit: 2, type: 'IP', count: 'succeeded' }, { window: '1m', limit: 1, name: 'seat' })
  @UseGuards(OpenGuard)
  @Get('seats')
  seats() {}
}

/** In no other application, so that nothing stands at its handler but what this one put there. */
@Controller()
class PlacedController {
  @RateLimit({ window: '1m', limit: 2, type: 'USER', count: 'failed' })
  @UseGuards(AuthenticationGuard, RateLimitGuard)
  @Get('placed')
  placed(@Query('status') status?: string) {
    if (status) throw new HttpException('as asked', Number(status));
  }
}

const controllers = [RulesController];

describe.each(PLATFORMS)('rules that count by outcome, on %s', (platform) => {
  const start = useApps();
  const settled = (app: LimitedApp, refunds: number) => eventually(async () => app.store.refunded.length === refunds);
  const statusesOf = async (app: LimitedApp, paths: readonly string[], options = {}): Promise<readonly number[]> => {
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await app.get(path, options)).status);
    return statuses;
  };

  it('let the right password in any number of times, and the wrong one five', async () => {
    const app = await start(platform, { controllers });
    for (let i = 0; i < 20; i++) expect((await app.post('/login', logIn('right'))).status).toBe(201);
    for (let i = 0; i < 5; i++) expect((await app.post('/login', logIn('wrong'))).status).toBe(401);
    expect((await app.post('/login', logIn('right'))).status).toBe(429);
    expect((await app.post('/login', logIn('right', 'bob@example.org'))).status).toBe(201);
    app.clock.advance(15 * 60_000);
    expect((await app.post('/login', logIn('right'))).status).toBe(201);
  });

  it('count per address besides: three wrong ones of another account are all that are left', async () => {
    const app = await start(platform, { controllers });
    for (let i = 0; i < 5; i++) await app.post('/login', logIn('wrong'));
    for (let i = 0; i < 3; i++) expect((await app.post('/login', logIn('wrong', 'b'))).status).toBe(401);
    expect((await app.post('/login', logIn('right', 'c'))).status).toBe(429);
  });

  it('hold the charge of an attempt that is pending, and tell so', async () => {
    const app = await start(platform, { controllers });
    const { headers } = await app.post('/login', logIn('right'));
    expect(headers.get('x-ratelimit-remaining')).toBe('4');
    await settled(app, 1);
    expect((await app.post('/login', logIn('right'))).headers.get('x-ratelimit-remaining')).toBe('4');
  });

  it('give everything back, once, when the later moment refuses', async () => {
    const app = await start(platform, { controllers });
    expect(await statusesOf(app, ['/two-moments', '/two-moments'], as('alice'))).toEqual([200, 429]);
    const [first, , second] = app.store.consumed;
    await settled(app, 2);
    // The answer with 429 is whole by now, and must not be taken for an outcome.
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(app.store.refunded.map(({ id }) => id)).toEqual([first!.id, second!.id]);
  });

  it('give nothing back a second time when the refusal is not what they count', async () => {
    const app = await start(platform, { controllers });
    expect(await statusesOf(app, ['/seats', '/seats'])).toEqual([200, 429]);
    await settled(app, 1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(app.store.refunded).toHaveLength(1);
  });

  it('give back of each moment what it took', async () => {
    const app = await start(platform, { controllers });
    // A failure of the handler counts for the first rule, not for the second.
    expect(await statusesOf(app, Array(3).fill('/two-moments?status=409'), as('alice'))).toEqual([409, 409, 429]);
    // Authentication refuses before the second is charged.
    app.clock.advance(60_000);
    expect(await statusesOf(app, Array(3).fill('/two-moments'))).toEqual([401, 401, 429]);
  });

  it('ask a function with status and error', async () => {
    const app = await start(platform, { controllers });
    outcomes.length = 0;
    const paths = ['', '?status=400', '?status=401', '', '?status=401', ''].map((query) => `/by-function${query}`);
    expect(await statusesOf(app, paths)).toEqual([200, 400, 401, 200, 401, 429]);
    expect(outcomes).toEqual([
      { failed: false, status: 200 },
      { failed: true, status: 400, error: expect.any(BadRequestException) },
      { failed: true, status: 401, error: expect.any(UnauthorizedException) },
      { failed: false, status: 200 },
      { failed: true, status: 401, error: expect.any(UnauthorizedException) },
    ]);
  });

  it('count what their function fails for, and tell it in the log', async () => {
    const logger = new LogLines();
    const app = await start(platform, { controllers, logger });
    expect(await statusesOf(app, Array(3).fill('/failing-function'))).toEqual([200, 200, 429]);
    expect(logger.errors).toEqual([
      expect.stringMatching(
        /RulesController\.failingFunction .*its count function failed, so the request counts: .*no\\nidea/,
      ),
    ]);
  });

  it('leave on a shared log what another rule counts', async () => {
    const app = await start(platform, { controllers });
    expect(await statusesOf(app, Array(4).fill('/one-bucket'))).toEqual([200, 200, 200, 429]);
    expect(app.store.refunded.map(({ charges }) => charges.map(({ rule }) => rule))).toEqual(Array(3).fill(['alone']));
  });

  it('keep exact logs, which forget what was given back', async () => {
    const app = await start(platform, { controllers });
    await statusesOf(app, ['/large', '/large-by-function']);
    expect(app.store.consumed.map(({ charges: [charge] }) => charge!.layout)).toEqual(['exact', 'exact']);
  });

  it('do nothing for a request that they skip', async () => {
    const app = await start(platform, { controllers });
    await statusesOf(app, ['/skipped']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(app.store.refunded).toEqual([]);
  });

  it('work where the application places the guard', async () => {
    const app = await start(platform, { controllers: [PlacedController], options: { guard: 'manual' } });
    const paths = ['', '', '', '?status=409', '?status=409', ''].map((query) => `/placed${query}`);
    expect(await statusesOf(app, paths, as('alice'))).toEqual([200, 200, 200, 409, 409, 429]);
  });

  it('follow the handler in each of two applications of one process', async () => {
    const [one, other] = [await start(platform, { controllers }), await start(platform, { controllers })];
    for (const app of [one, other]) {
      expect(await statusesOf(app, Array(6).fill('/by-function'))).toEqual(Array(6).fill(200));
      await settled(app, 6);
    }
  });
});
