import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  Catch,
  Controller,
  Get,
  HttpException,
  Param,
  ParseIntPipe,
  Res,
  Sse,
  StreamableFile,
  UnauthorizedException,
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
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { RateLimit } from 'nestjs-floodgate';
import { catchError, delay, interval, map, mergeMap, of, throwError, type Observable } from 'rxjs';
import { eventually } from '../support/eventually.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
/** So long a client stays that leaves early, and so long after it a slow handler ends; milliseconds. */
const LEAVES_AFTER_MS = 60;
const ENDS_AFTER_MS = 180;

interface Answering {
  readonly raw?: Answering;
  status(code: number): { send(body: unknown): unknown };
}

/** The application's own envelope, which answers every failure with status 200. */
@Catch()
class EnvelopeFilter implements ExceptionFilter {
  catch(error: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Answering>();
    response.status(200).send({ success: false, errorMsg: error.message });
  }
}

class RefusingGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getHandler().name.startsWith('slow')) await after(ENDS_AFTER_MS);
    throw new UnauthorizedException();
  }
}

class SlowGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await after(ENDS_AFTER_MS);
    return true;
  }
}

/** Makes a success of every failure. */
class ForgivingInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(catchError(() => of({ success: false })));
  }
}

/** Answers in place of the handler. */
class CachingInterceptor implements NestInterceptor {
  intercept(): Observable<unknown> {
    return of({ cached: true });
  }
}

/** Makes a failure of every success. */
class StrictInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(mergeMap(() => throwError(() => new BadRequestException())));
  }
}

const brokenStream = (): Readable =>
  new Readable({
    read() {
      this.push('a');
      this.destroy(new Error('broken'));
    },
  });

@RateLimit(
  { name: 'failures', limit: 100, window: '1m', type: 'IP', count: 'failed' },
  { name: 'successes', limit: 100, window: '1m', type: 'IP', count: 'succeeded' },
  { name: 'late-successes', limit: 100, window: '1m', count: 'succeeded' },
  { name: 'calls', limit: 100, window: '1m' },
)
@Controller()
class OutcomesController {
  @Get('value')
  value() {
    return { fine: true };
  }

  @Get('nothing')
  nothing() {}

  @Get('promise')
  async promise() {
    await after(1);
    return 'fine';
  }

  @Get('observable')
  observable() {
    return of('fine').pipe(delay(1));
  }

  @Get('stream')
  stream() {
    return new StreamableFile(Readable.from(['a', 'b']));
  }

  @Get('response')
  response(@Res() response: Answering) {
    response.status(200).send('fine');
  }

  @Get('late-response')
  lateResponse(@Res() response: Answering) {
    setTimeout(() => response.status(200).send('fine'), 5);
  }

  @Sse('events')
  events() {
    return of({ data: 'fine' });
  }

  @Get('throws')
  throws() {
    throw new UnauthorizedException();
  }

  @Get('rejects')
  async rejects() {
    await after(1);
    throw new Error('broken');
  }

  @Get('failing-observable')
  failingObservable() {
    return throwError(() => new UnauthorizedException());
  }

  @Get('pipe/:id')
  pipe(@Param('id', ParseIntPipe) id: number) {
    return id;
  }

  @UseGuards(RefusingGuard)
  @Get('guard')
  guard() {}

  @UseFilters(EnvelopeFilter)
  @UseGuards(RefusingGuard)
  @Get('guard-in-envelope')
  guardInEnvelope() {}

  @UseFilters(EnvelopeFilter)
  @Get('handler-in-envelope')
  handlerInEnvelope() {
    throw new UnauthorizedException();
  }

  @UseInterceptors(ForgivingInterceptor)
  @Get('forgiven')
  forgiven() {
    throw new UnauthorizedException();
  }

  @UseInterceptors(StrictInterceptor)
  @Get('refused-afterwards')
  refusedAfterwards() {
    return 'fine';
  }

  @UseInterceptors(CachingInterceptor)
  @Get('cached')
  cached() {}

  @Get('failing-response')
  failingResponse(@Res() response: Answering) {
    response.status(503).send('broken');
  }

  @Get('slow-value')
  async slowValue() {
    await after(ENDS_AFTER_MS);
    return 'fine';
  }

  @Get('slow-failure')
  async slowFailure() {
    await after(ENDS_AFTER_MS);
    throw new UnauthorizedException();
  }

  @UseGuards(SlowGuard)
  @Get('slow-way-to-a-failure')
  slowWayToAFailure() {
    throw new UnauthorizedException();
  }

  @UseGuards(RefusingGuard)
  @Get('slow-guard')
  slowGuard() {}

  @Get('slow-response')
  async slowResponse(@Res() response: Answering) {
    await after(ENDS_AFTER_MS);
    response.status(200).send('fine');
  }

  @Get('slow-stream')
  slowStream() {
    return new StreamableFile(
      Readable.from(
        (async function* () {
          yield 'a';
          await after(ENDS_AFTER_MS);
          yield 'b';
        })(),
      ),
    );
  }

  @Get('broken-stream')
  brokenStream() {
    return new StreamableFile(brokenStream());
  }

  @Sse('endless-events')
  endlessEvents() {
    return interval(10).pipe(map((n) => ({ data: n })));
  }
}

/** The rules whose charges were given back. */
const givenBack = (app: LimitedApp): readonly (string | undefined)[] =>
  app.store.refunded.flatMap(({ charges }) => charges.map(({ rule }) => rule));

const SUCCEEDED = ['failures'];
const FAILED = ['successes', 'late-successes'];
/** By a guard, before the later moment. */
const KEPT_OUT = ['successes'];

describe.each(PLATFORMS)('the outcome of a request on %s', (platform) => {
  const start = useApps();
  const app = () => start(platform, { controllers: [OutcomesController] });

  it.each(['value', 'nothing', 'promise', 'observable', 'stream', 'response', 'late-response', 'events'])(
    'is a success: %s',
    async (path) => {
      const limited = await app();
      expect((await limited.get(`/${path}`)).status).toBe(200);
      await eventually(async () => givenBack(limited).length > 0);
      expect(givenBack(limited)).toEqual(SUCCEEDED);
    },
  );

  it.each([
    ['throws', 401, FAILED],
    ['rejects', 500, FAILED],
    ['failing-observable', 401, FAILED],
    ['pipe/x', 400, FAILED],
    ['guard', 401, KEPT_OUT],
    ['guard-in-envelope', 200, KEPT_OUT],
    ['handler-in-envelope', 200, FAILED],
    ['forgiven', 200, FAILED],
    ['refused-afterwards', 400, FAILED],
    ['cached', 200, FAILED],
    ['failing-response', 503, FAILED],
  ])('is a failure: %s, answered with %d', async (path, status, expected) => {
    const limited = await app();
    expect((await limited.get(`/${path}`)).status).toBe(status);
    await eventually(async () => givenBack(limited).length === expected.length);
    expect(givenBack(limited)).toEqual(expected);
  });

  /** Sends a request and leaves before it is answered whole. */
  const sendAndLeave = async (limited: LimitedApp, path: string): Promise<void> => {
    const socket = connect(Number(new URL(limited.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await after(LEAVES_AFTER_MS);
    socket.destroy();
  };

  it.each([
    ['slow-value', SUCCEEDED],
    ['slow-failure', FAILED],
    ['slow-way-to-a-failure', FAILED],
  ])('is that of the handler when the client left before: %s', async (path, expected) => {
    const limited = await app();
    await sendAndLeave(limited, path);
    expect(givenBack(limited)).toEqual([]);
    await eventually(async () => givenBack(limited).length > 0);
    expect(givenBack(limited)).toEqual(expected);
  });

  it.each(['slow-guard', 'slow-response', 'slow-stream', 'broken-stream', 'endless-events'])(
    'is unknown, and everything stays charged, when the client left before: %s',
    async (path) => {
      const limited = await app();
      await sendAndLeave(limited, path);
      await after(ENDS_AFTER_MS + 60);
      expect(givenBack(limited)).toEqual([]);
    },
  );
});
