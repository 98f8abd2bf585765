import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Render, type INestApplication } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';

@Controller()
class PageController {
  @RateLimit({ limit: 1 })
  @Render('page')
  @Get('page')
  page() {
    return { title: 'Cats' };
  }
}

/** A view engine without files: Express asks it for each view by its name. */
class View {
  readonly path: string;

  constructor(name: string) {
    this.path = name;
  }

  render({ title }: { readonly title: string }, done: (error: null, html: string) => void): void {
    done(null, `<h1>${title}</h1>`);
  }
}

const configure = (app: INestApplication): void => {
  (app.getHttpAdapter().getInstance() as { set(name: string, value: unknown): void }).set('view', View);
};

// Not on Fastify, which renders by a plugin only (@fastify/view); the guards of a handler come before it all the same.
describe('a page that is rendered on express', () => {
  const start = useApps();

  it('is limited, and tells what is left', async () => {
    const app = await start('express', { controllers: [PageController], configure });
    const { status, headers, text } = await app.get('/page');

    expect([status, text]).toEqual([200, '<h1>Cats</h1>']);
    expect(headers.get('content-type')).toMatch('text/html');
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    expect(app.store.chargedKeys).toEqual(['{method:GET /page}']);
  });

  it('is not rendered for a refusal, which has its usual body', async () => {
    const app = await start('express', { controllers: [PageController], configure });
    await app.get('/page');

    expect(await app.get('/page')).toMatchObject({ status: 429, json: { statusCode: 429, retryAfter: 10 } });
  });
});
