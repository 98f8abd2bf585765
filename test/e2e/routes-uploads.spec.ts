import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Post, UploadedFile, UseInterceptors, type INestApplication } from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import { RateLimit } from 'nestjs-floodgate';
import { requestOf } from '../support/authentication.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';

const asText = 'text/x-upload';

/** The bodies whose parsing was begun, in a test. */
const parsed: string[] = [];

@Controller()
class UploadController {
  @RateLimit({ limit: 1 })
  @UseInterceptors(
    FileInterceptor('file', {
      fileFilter: (_request, file, accept) => {
        parsed.push(file.originalname);
        accept(null, true);
      },
    }),
  )
  @Post('file')
  file(@UploadedFile() file: { readonly buffer: Buffer }, @Body('album') album: string) {
    return { text: file.buffer.toString(), album };
  }

  @RateLimit({ limit: 1, key: (context) => requestOf(context).body?.album as string | undefined })
  @UseInterceptors(FileInterceptor('file'))
  @Post('album')
  album() {}
}

@Controller()
class RawController {
  @RateLimit({ limit: 1 })
  @Post('raw')
  raw(@Body() body: Buffer) {
    return { text: body.toString() };
  }

  @RateLimit({ limit: 1, key: (context) => (requestOf(context).body as unknown as Buffer).toString() })
  @Post('content')
  content() {}
}

const upload = (app: LimitedApp, path: string, name: string, album = 'cats') => {
  const body = new FormData();
  body.set('album', album);
  body.set('file', new Blob(['purr']), name);
  return fetch(`${app.url}${path}`, { method: 'POST', body });
};

describe('an upload on express', () => {
  const start = useApps();
  const controllers = [UploadController];

  it('is limited before its file is read', async () => {
    parsed.length = 0;
    const app = await start('express', { controllers });
    const [admitted, refused] = [await upload(app, '/file', 'first'), await upload(app, '/file', 'second')];

    expect(await admitted.json()).toEqual({ text: 'purr', album: 'cats' });
    expect(admitted.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(refused.status).toBe(429);
    expect(parsed).toEqual(['first']);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:POST /file}']));
  });

  it('has no fields yet for the key of a rule, so that its client’s address counts', async () => {
    const app = await start('express', { controllers });
    const answers = [await upload(app, '/album', 'one', 'cats'), await upload(app, '/album', 'one', 'dogs')];

    expect(answers.map(({ status }) => status)).toEqual([201, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{anon-key:127.0.0.1}:POST /album']));
  });
});

describe('an upload on fastify', () => {
  const start = useApps();
  const controllers = [RawController];

  type Parsed = (error: null, body: unknown) => void;
  interface Fastify {
    addContentTypeParser(
      type: string,
      options: { parseAs: 'buffer' },
      parser: (request: unknown, body: Buffer, done: Parsed) => void,
    ): void;
  }
  const configure = (app: INestApplication): void =>
    (app.getHttpAdapter().getInstance() as Fastify).addContentTypeParser(
      asText,
      { parseAs: 'buffer' },
      (_request, body, done) => done(null, body),
    );
  const send = (app: LimitedApp, path: string, body: string) =>
    fetch(`${app.url}${path}`, { method: 'POST', headers: { 'content-type': asText }, body });

  it('that a parser reads whole is limited after that', async () => {
    const app = await start('fastify', { controllers, configure });
    const [admitted, refused] = [await send(app, '/raw', 'purr'), await send(app, '/raw', 'purr')];

    expect(await admitted.json()).toEqual({ text: 'purr' });
    expect(refused.status).toBe(429);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:POST /raw}']));
  });

  it('that a parser reads whole is known to the key of a rule', async () => {
    const app = await start('fastify', { controllers, configure });
    const statuses: number[] = [];
    for (const body of ['cats', 'cats', 'dogs']) statuses.push((await send(app, '/content', body)).status);

    expect(statuses).toEqual([201, 429, 201]);
  });

  it('of a type that no parser reads charges nothing', async () => {
    const app = await start('fastify', { controllers });

    expect((await send(app, '/raw', 'purr')).status).toBe(415);
    expect(app.store.consumed).toEqual([]);
  });
});
