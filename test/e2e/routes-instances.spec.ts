import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { REQUEST, RouterModule } from '@nestjs/core';
import { RateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Injectable({ scope: Scope.REQUEST })
class RequestedUrl {
  readonly url: string;

  constructor(@Inject(REQUEST) request: { readonly url: string }) {
    this.url = request.url;
  }
}

let instances = 0;

@RateLimit({ limit: 3 })
@Controller('cats')
class CatsController {
  readonly number = ++instances;

  // What it depends on makes it one for each request.
  constructor(private readonly requested: RequestedUrl) {}

  @RateLimit({ limit: 2 }, { limit: 2, type: 'IP' })
  @Get('1')
  first() {
    return `${this.number} ${this.requested.url}`;
  }

  @Get('2')
  second() {
    return `${this.number} ${this.requested.url}`;
  }
}

@Module({ controllers: [CatsController], providers: [RequestedUrl] })
class CatsModule {}

@Module({ controllers: [CatsController], providers: [RequestedUrl] })
class OtherModule {}

describe.each(PLATFORMS)('controllers that are made for each request on %s', (platform) => {
  const start = useApps();

  it('have the budgets of their class and methods together', async () => {
    instances = 0;
    const app = await start(platform, { imports: (limits) => [limits, CatsModule] });

    expect((await app.get('/cats/1')).text).toBe('1 /cats/1');
    expect((await app.get('/cats/1')).text).toBe('2 /cats/1');
    expect(await app.statuses(1, '/cats/1')).toEqual([429]);
    expect(await app.statuses(2, '/cats/2')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(
      new Set(['{ip:127.0.0.1}:GET /cats/1', '{method:/cats/*}', '{method:GET /cats/1}']),
    );
  });

  it('share them with those of another module', async () => {
    const mounted = RouterModule.register([{ path: 'other', module: OtherModule }]);
    const app = await start(platform, { imports: (limits) => [limits, mounted, CatsModule, OtherModule] });

    expect(await app.statuses(2, '/cats/2')).toEqual([200, 200]);
    expect(await app.statuses(2, '/other/cats/2')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(new Set(['{method:/cats/*}']));
  });
});
