import { describe, expect, it } from '@jest/globals';
import {
  Catch,
  Controller,
  Get,
  HttpException,
  Inject,
  Injectable,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { RateLimit, RateLimitException, RateLimitExceptionFilter, type Denied } from 'nestjs-floodgate';
import { from } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Controller()
class FilteredController {
  @RateLimit({ limit: 1, type: 'IP', name: 'door', window: '1m', message: 'Slow down.' })
  @Get('filtered')
  get() {}
}

const controllers = [FilteredController];

/** Answers in an envelope of the application's own, on whatever adapter it runs. */
@Injectable()
@Catch(RateLimitException)
class EnvelopeFilter implements ExceptionFilter<RateLimitException> {
  readonly decisions: Denied[] = [];
  readonly stacks: (string | undefined)[] = [];

  constructor(@Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost) {}

  catch(exception: RateLimitException, host: ArgumentsHost): void {
    this.decisions.push(exception.decision);
    this.stacks.push(exception.stack);
    const body = { success: false, errorMsg: exception.message, data: null, total: null };
    this.adapterHost.httpAdapter.reply(host.switchToHttp().getResponse(), body, exception.getStatus());
  }
}

@Catch(RateLimitException)
class TerseFilter extends RateLimitExceptionFilter {
  protected override body({ decision }: RateLimitException, host: ArgumentsHost): unknown {
    const { url } = host.switchToHttp().getRequest<{ url: string }>();
    return { code: 'TOO_FAST', url, waitMs: decision.retryAfterMs };
  }
}

describe.each(PLATFORMS)('a filter for refusals on %s', (platform) => {
  const start = useApps();
  const client = from('203.0.113.5');

  it('gets an exception that took no time to record which calls led to it', async () => {
    const app = await start(platform, {
      controllers,
      providers: [EnvelopeFilter, { provide: APP_FILTER, useExisting: EnvelopeFilter }],
    });
    await app.statuses(2, '/filtered', client);

    expect(app.app.get(EnvelopeFilter).stacks).toEqual(['RateLimitException: Slow down.']);
  });

  it('answers in the application’s own envelope, with our status and header fields', async () => {
    const app = await start(platform, { controllers, providers: [{ provide: APP_FILTER, useClass: EnvelopeFilter }] });
    await app.get('/filtered');
    const { status, headers, json } = await app.get('/filtered');

    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('60');
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    expect(json).toEqual({ success: false, errorMsg: 'Slow down.', data: null, total: null });
  });

  it('gets the decision that refused, complete', async () => {
    const app = await start(platform, {
      controllers,
      trustProxy: true,
      providers: [EnvelopeFilter, { provide: APP_FILTER, useExisting: EnvelopeFilter }],
    });
    await app.get('/filtered', client);
    app.clock.advance(20_000);
    await app.get('/filtered', client);

    const budget = {
      key: expect.stringMatching(/^\{ip:203\.0\.113\.5\}:GET \/filtered\Wdoor$/),
      rule: 'door',
      limit: 1,
      windowMs: 60_000,
      cost: 1,
      remaining: 0,
      resetAfterMs: 40_000,
    };
    expect(app.app.get(EnvelopeFilter).decisions).toEqual([
      expect.objectContaining({
        allowed: false,
        retryAfterMs: 40_000,
        budgets: [expect.objectContaining(budget)],
        refusedBy: [expect.objectContaining({ ...budget, retryAfterMs: 40_000 })],
      }),
    ]);
  });

  it('may be bound with useGlobalFilters', async () => {
    const app = await start(platform, {
      controllers,
      configure: (nest) => nest.useGlobalFilters(new EnvelopeFilter(nest.get(HttpAdapterHost))),
    });
    await app.get('/filtered');

    expect((await app.get('/filtered')).json).toMatchObject({ success: false });
  });

  it('may be one for every HttpException', async () => {
    const caught: unknown[] = [];
    @Catch(HttpException)
    class AnyFilter implements ExceptionFilter<HttpException> {
      constructor(private readonly adapterHost: HttpAdapterHost) {}

      catch(exception: HttpException, host: ArgumentsHost): void {
        caught.push(exception);
        const response: unknown = host.switchToHttp().getResponse();
        this.adapterHost.httpAdapter.reply(response, { told: exception.message }, exception.getStatus());
      }
    }
    const app = await start(platform, {
      controllers,
      configure: (nest) => nest.useGlobalFilters(new AnyFilter(nest.get(HttpAdapterHost))),
    });
    await app.get('/filtered');

    expect((await app.get('/filtered')).json).toEqual({ told: 'Slow down.' });
    expect(caught).toEqual([expect.any(RateLimitException)]);
  });

  it('may be the one of the library, which leaves the body as it is', async () => {
    const bare = await start(platform, { controllers });
    const filtered = await start(platform, {
      controllers,
      providers: [{ provide: APP_FILTER, useClass: RateLimitExceptionFilter }],
    });
    await Promise.all([bare.get('/filtered'), filtered.get('/filtered')]);
    const [one, other] = await Promise.all([bare.get('/filtered'), filtered.get('/filtered')]);

    expect(other.status).toBe(429);
    expect(other.json).toEqual(one.json);
    expect(other.headers.get('content-type')).toBe(one.headers.get('content-type'));
  });

  it('may extend the one of the library and make the body', async () => {
    const app = await start(platform, { controllers, providers: [{ provide: APP_FILTER, useClass: TerseFilter }] });
    await app.get('/filtered');
    const { status, headers, json } = await app.get('/filtered');

    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('60');
    expect(json).toEqual({ code: 'TOO_FAST', url: '/filtered', waitMs: 60_000 });
  });

  it('may stand on a controller', async () => {
    @UseFilters(TerseFilter)
    @Controller()
    class OwnFilterController {
      @RateLimit({ limit: 1 })
      @Get('own')
      get() {}
    }
    const app = await start(platform, { controllers: [OwnFilterController] });
    await app.get('/own');

    expect((await app.get('/own')).json).toMatchObject({ code: 'TOO_FAST' });
  });
});
