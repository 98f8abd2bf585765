import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Header,
  HttpCode,
  Post,
  Redirect,
  Res,
  Sse,
  StreamableFile,
  type MessageEvent,
} from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { of, type Observable } from 'rxjs';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

/** What the tests need of an answer; Express and Fastify both have it. */
interface Response {
  status(code: number): Response;
  send(body: unknown): unknown;
  type(type: string): Response;
}

@RateLimit({ limit: 2 })
@Controller()
class AnswersController {
  handled = 0;

  @Get('whole')
  whole(@Res() response: Response) {
    this.handled++;
    response.status(202).send('whole');
  }

  @Get('passthrough')
  passthrough(@Res({ passthrough: true }) response: Response) {
    this.handled++;
    response.status(203);
    return 'passthrough';
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    this.handled++;
    return of({ data: 'one' }, { data: 'two' });
  }

  @Redirect('/elsewhere', 307)
  @Get('redirect')
  redirect() {
    this.handled++;
  }

  @HttpCode(204)
  @Post('code')
  code() {
    this.handled++;
  }

  @Header('x-own', 'yes')
  @Header('x-ratelimit-limit', 'of the application')
  @Get('header')
  header() {
    this.handled++;
    return 'header';
  }

  @Get('file')
  file() {
    this.handled++;
    return new StreamableFile(Buffer.from('file'), { type: 'text/plain', disposition: 'attachment' });
  }

  @Get('promise')
  async promise() {
    this.handled++;
    return Promise.resolve({ kept: true });
  }

  @Get('observable')
  observable() {
    this.handled++;
    return of('last');
  }
}

const controllers = [AnswersController];
const FIELDS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

describe.each(PLATFORMS)('an answer on %s', (platform) => {
  const start = useApps();

  it.each([
    ['that the handler sends itself', 'GET', '/whole', 202, 'whole'],
    ['that the handler only prepares', 'GET', '/passthrough', 203, 'passthrough'],
    ['with a status of its own', 'POST', '/code', 204, ''],
    ['that is a file', 'GET', '/file', 200, 'file'],
    ['that is a promise', 'GET', '/promise', 200, '{"kept":true}'],
    ['that is an observable', 'GET', '/observable', 200, 'last'],
    ['that is a stream of events', 'GET', '/events', 200, 'id: 1\ndata: one\n\nid: 2\ndata: two\n\n'],
  ])('%s is limited, and tells what is left', async (_, verb, path, status, text) => {
    const app = await start(platform, { controllers });
    await app.call(verb, path);
    const admitted = await app.call(verb, path);
    const refused = await app.call(verb, path);

    expect({ status: admitted.status, text: admitted.text.trimStart() }).toEqual({ status, text });
    expect(FIELDS.map((name) => admitted.headers.get(name))).toEqual(['2', '0', '10']);
    expect(refused).toMatchObject({ status: 429, json: { statusCode: 429, retryAfter: 10 } });
    expect(refused.headers.get('content-type')).toMatch('application/json');
    expect(refused.headers.has('content-disposition')).toBe(false);
    expect(app.app.get(AnswersController).handled).toBe(2);
  });

  it('that redirects is limited, and a refusal redirects nobody', async () => {
    const app = await start(platform, { controllers });
    const redirected = await fetch(`${app.url}/redirect`, { redirect: 'manual' });
    await fetch(`${app.url}/redirect`, { redirect: 'manual' });
    const refused = await fetch(`${app.url}/redirect`, { redirect: 'manual' });

    expect([redirected.status, redirected.headers.get('location')]).toEqual([307, '/elsewhere']);
    expect(FIELDS.map((name) => redirected.headers.get(name))).toEqual(['2', '1', '10']);
    expect([refused.status, refused.headers.get('location')]).toEqual([429, null]);
  });

  it('keeps header fields that the handler declares, of our names too, while a refusal has ours', async () => {
    const app = await start(platform, { controllers });
    const admitted = await app.get('/header');
    await app.get('/header');
    const refused = await app.get('/header');

    expect(admitted.headers.get('x-own')).toBe('yes');
    expect(admitted.headers.get('x-ratelimit-limit')).toBe('of the application');
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, '2']);
  });
});

// Not on Fastify, which makes no ETag by itself.
describe('an answer on express that the client has already', () => {
  const start = useApps();

  it('is charged like any other', async () => {
    const app = await start('express', { controllers });
    const { headers } = await app.get('/promise');
    // Without the second field, fetch adds one that asks for the answer anew.
    const known = { 'if-none-match': headers.get('etag')!, 'cache-control': 'max-age=0' };

    expect(await app.statuses(2, '/promise', { headers: known })).toEqual([304, 429]);
  });
});
