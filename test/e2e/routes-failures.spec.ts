import { describe, expect, it } from '@jest/globals';
import {
  Catch,
  ConflictException,
  Controller,
  ForbiddenException,
  Get,
  Header,
  HttpException,
  Param,
  ParseIntPipe,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { map, of, throwError } from 'rxjs';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const failing = (): never => {
  throw new Error('a fault of the application');
};

const failingBefore: NestInterceptor = { intercept: failing };
const failingAfter: NestInterceptor = {
  intercept: (_: ExecutionContext, next: CallHandler) => next.handle().pipe(map(failing)),
};
const answering: NestInterceptor = { intercept: () => of('from a cache') };
const refusing: CanActivate = { canActivate: () => false };

interface Response {
  status(code: number): { send(body: unknown): unknown };
}

@Catch(ForbiddenException)
class TeapotFilter implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(418).send('short and stout');
  }
}

@RateLimit({ limit: 2 }, { limit: 2, type: 'IP' })
@Controller()
class FaultyController {
  @Get('throws')
  throws() {
    failing();
  }

  @Get('rejects')
  async rejects() {
    await Promise.reject(new ConflictException());
  }

  @Get('fails-as-observable')
  failsAsObservable() {
    return throwError(() => new HttpException('paid', 402));
  }

  @UseFilters(TeapotFilter)
  @Get('filtered')
  filtered() {
    throw new ForbiddenException();
  }

  @UseInterceptors(failingBefore)
  @Get('interceptor-before')
  interceptorBefore() {}

  @UseInterceptors(failingAfter)
  @Get('interceptor-after')
  interceptorAfter() {}

  @UseInterceptors(answering)
  @Get('interceptor-instead')
  interceptorInstead() {
    failing();
  }

  @Get('pipe/:id')
  pipe(@Param('id', ParseIntPipe) _id: number) {}

  @Header('x-never', 'sent')
  @UseGuards(refusing)
  @Get('guard')
  guard() {}
}

const BOTH = ['{method:/*}', '{ip:127.0.0.1}:/*'].sort();

describe.each(PLATFORMS)('the charge of a request on %s', (platform) => {
  const start = useApps();

  it.each([
    ['whose handler throws', '/throws', 500],
    ['whose handler rejects', '/rejects', 409],
    ['whose handler fails as an observable', '/fails-as-observable', 402],
    ['whose exception a filter answers', '/filtered', 418],
    ['whose interceptor fails before the handler', '/interceptor-before', 500],
    ['whose interceptor fails after the handler', '/interceptor-after', 500],
    ['that an interceptor answers in place of the handler', '/interceptor-instead', 200],
    ['whose pipe fails', '/pipe/one', 400],
  ])('%s stays', async (_, path, expected) => {
    const app = await start(platform, { controllers: [FaultyController] });
    const { status, headers } = await app.get(path);

    expect(status).toBe(expected);
    expect(headers.get('x-ratelimit-remaining')).toBe('1');
    expect([...app.store.chargedKeys].sort()).toEqual(BOTH);
    expect(await app.statuses(2, path)).toEqual([expected, 429]);
    expect(app.store.refunded).toEqual([]);
  });

  it('whose guard refuses is that of its address alone, and stays', async () => {
    const app = await start(platform, { controllers: [FaultyController] });

    expect(await app.statuses(3, '/guard')).toEqual([403, 403, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{ip:127.0.0.1}:/*']));
    expect(app.store.refunded).toEqual([]);
  });
});
