import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const HIDDEN = Symbol('hidden');
const read: string[] = [];

@RateLimit({ limit: 2 })
@Controller('cats')
class CatsController {
  static helper() {}

  readonly field = 'a field';
  readonly arrow = () => this.field;
  readonly #names = ['Tom'];

  get names() {
    read.push('names');
    return this.#names;
  }

  set names(_: readonly string[]) {
    read.push('set names');
  }

  get failing(): never {
    throw new Error('read while the application starts');
  }

  @Get('symbol')
  [HIDDEN]() {}

  [Symbol.iterator]() {
    return this.#names.values();
  }

  helper() {
    return [...this].join();
  }

  @Get()
  list() {
    return this.helper() + this.arrow();
  }
}

describe.each(PLATFORMS)('members of a controller that are no routes on %s', (platform) => {
  const start = useApps();

  it('are left alone, and the routes beside them are limited', async () => {
    read.length = 0;
    const app = await start(platform, { controllers: [CatsController] });

    expect(await app.get('/cats')).toMatchObject({ status: 200, text: 'Toma field' });
    expect(await app.statuses(2, '/cats')).toEqual([200, 429]);
    expect(read).toEqual([]);
  });

  it('charge nothing, be they named by a symbol and decorated as a route, which Nest does not serve', async () => {
    const app = await start(platform, { controllers: [CatsController] });

    expect(await app.statuses(1, '/cats/symbol')).toEqual([404]);
    expect(app.store.consumed).toEqual([]);
  });
});
