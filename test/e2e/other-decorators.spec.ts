import { describe, expect, it } from '@jest/globals';
import { applyDecorators, Controller, Get, Scope, UseGuards } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { AuthenticationGuard } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

/** Puts another function in place of the method, and copies nothing to it. */
function Traced(): MethodDecorator {
  return (_target, _property, descriptor: PropertyDescriptor) => {
    const original = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function traced(this: unknown, ...args: unknown[]) {
      return original.apply(this, args);
    };
  };
}

const Strict = () => applyDecorators(RateLimit({ limit: 1 }), UseGuards());

@Controller()
class DecoratedController {
  @Get('above')
  @Traced()
  @RateLimit({ limit: 1 })
  above() {}

  @Get('below')
  @RateLimit({ limit: 1 })
  @Traced()
  below() {}

  @RateLimit({ limit: 1 })
  @Get('outside')
  @Traced()
  outside() {}

  @Get('between')
  @RateLimit({ limit: 4 })
  @Traced()
  @RateLimit({ limit: 1, window: 1 })
  between() {}

  @Get('composed')
  @Strict()
  composed() {}
}

@Controller({ path: 'scoped', scope: Scope.REQUEST })
class ScopedController {
  @UseGuards(AuthenticationGuard)
  @RateLimit({ limit: 1 }, { limit: 2, type: 'IP' })
  @Get()
  get() {}
}

describe.each(PLATFORMS)('beside other decorators on %s', (platform) => {
  const start = useApps();

  it.each([
    ['below one that replaces the method', '/above'],
    ['above one that replaces the method', '/below'],
    ['outside of the route and one that replaces the method', '/outside'],
    ['on both sides of one that replaces the method', '/between'],
    ['as a part of a composed decorator', '/composed'],
  ])('a rule limits %s', async (_, path) => {
    const app = await start(platform, { controllers: [DecoratedController] });

    expect(await app.statuses(2, path)).toEqual([200, 429]);
  });

  it('rules limit a controller that is made for each request, at both moments', async () => {
    const app = await start(platform, { controllers: [ScopedController] });
    const headers = { 'x-user': 'alice' };

    expect(await app.statuses(1, '/scoped')).toEqual([401]);
    expect(await app.statuses(2, '/scoped', { headers })).toEqual([200, 429]);
    app.clock.advance(10_000);
    expect(await app.statuses(3, '/scoped')).toEqual([401, 401, 429]);
  });
});
