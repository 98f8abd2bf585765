import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Scope, UseGuards } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { AuthenticationGuard } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

@Controller('replacing')
class ReplacingController {
  constructor() {
    const original = this.get.bind(this);
    this.get = function traced() {
      return original();
    };
  }

  @RateLimit({ limit: 1 })
  @Get()
  get() {}
}

@UseGuards(AuthenticationGuard)
@Controller('bound')
class BoundController {
  constructor() {
    this.get = this.get.bind(this);
  }

  @RateLimit({ limit: 1 })
  @Get()
  get() {}

  @RateLimit({ limit: 1, type: 'IP' })
  @Get('other')
  other() {}
}

@Controller({ path: 'bound-for-request', scope: Scope.REQUEST })
class BoundForRequestController {
  constructor() {
    this.get = this.get.bind(this);
  }

  @RateLimit({ limit: 1 })
  @Get()
  get() {}
}

@Controller({ path: 'replaced-for-request', scope: Scope.REQUEST })
class ReplacedForRequestController {
  constructor() {
    this.get = function unrelated() {};
  }

  @RateLimit({ limit: 1 })
  @Get()
  get() {}

  @RateLimit({ limit: 1 })
  @Get('as-written')
  asWritten() {}
}

describe.each(PLATFORMS)('where an instance has another function in place of its method, on %s', (platform) => {
  const start = useApps();

  it('a rule limits a method that the constructor binds, at its moment', async () => {
    const app = await start(platform, { controllers: [BoundController] });
    const headers = { 'x-user': 'alice' };

    expect(await app.statuses(2, '/bound')).toEqual([401, 401]);
    expect(await app.statuses(2, '/bound', { headers })).toEqual([200, 429]);
    expect(await app.statuses(2, '/bound/other')).toEqual([401, 429]);
  });

  it('a rule limits a method that the constructor replaces', async () => {
    const app = await start(platform, { controllers: [ReplacingController] });

    expect(await app.statuses(2, '/replacing')).toEqual([200, 429]);
  });

  it('a rule limits a method that is bound for each request', async () => {
    const app = await start(platform, { controllers: [BoundForRequestController] });

    expect(await app.statuses(2, '/bound-for-request')).toEqual([200, 429]);
  });

  it('nothing is served without its limit: a function that comes from nowhere is a fault', async () => {
    const app = await start(platform, { controllers: [ReplacedForRequestController] });

    expect(await app.statuses(2, '/replaced-for-request')).toEqual([500, 500]);
    expect(await app.statuses(2, '/replaced-for-request/as-written')).toEqual([200, 429]);
  });
});
