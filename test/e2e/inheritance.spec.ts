import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type Type } from '@nestjs/common';
import { RateLimit, SkipRateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

class Base {
  @RateLimit({ limit: 1 })
  @Get('inherited')
  inherited() {}

  @RateLimit({ limit: 1 })
  @Get('overridden')
  overridden() {}

  @RateLimit({ limit: 1 })
  @Get('limited-again')
  limitedAgain() {}
}

@Controller('base')
class BaseController extends Base {}

@Controller('sub')
class SubController extends Base {
  @Get('overridden')
  override overridden() {}

  @RateLimit({ limit: 2 })
  @Get('limited-again')
  override limitedAgain() {}
}

@RateLimit({ limit: 2 })
abstract class LimitedBase {
  @Get('1')
  first() {}

  @Get('2')
  second() {}
}

@Controller('one')
class OneController extends LimitedBase {}

@Controller('two')
class TwoController extends LimitedBase {}

@RateLimit({ limit: 1, window: 1 })
@Controller('stricter')
class StricterController extends LimitedBase {}

@SkipRateLimit()
@Controller('exempt')
class ExemptController extends LimitedBase {}

@RateLimit.only({ limit: 3 })
@Controller('replaced')
class ReplacedController extends LimitedBase {}

/** A mixin: each call makes a class. */
function listOf(path: string, limit: number): Type {
  @Controller(path)
  class ListController {
    @RateLimit({ limit })
    @Get()
    list() {}
  }
  return ListController;
}

describe.each(PLATFORMS)('inheritance on %s', (platform) => {
  const start = useApps();

  it.each([
    ['keeps the rules of a method that a class inherits', '/sub/inherited', [200, 429, 429]],
    ['drops the rules of a method that a class overrides', '/sub/overridden', [200, 200, 200]],
    ['gives an overriding method its own rules in their place', '/sub/limited-again', [200, 200, 429]],
    ['leaves the base class as it is where a subclass overrides', '/base/overridden', [200, 429, 429]],
    ['leaves the base class as it is where a subclass limits again', '/base/limited-again', [200, 429, 429]],
    ['adds the rules of a class to those of its base', '/stricter/1', [200, 429, 429]],
    ['lets a class be exempt from the rules of its base', '/exempt/1', [200, 200, 200]],
    ['leaves the base class as it is for its other subclasses', '/one/1', [200, 200, 429]],
  ])('%s', async (_, path, statuses) => {
    const app = await start(platform, {
      controllers: [BaseController, SubController, OneController, StricterController, ExemptController],
    });

    expect(await app.statuses(3, path)).toEqual(statuses);
  });

  it('lets a class replace the rules of its base, over the same window too', async () => {
    const app = await start(platform, { controllers: [ReplacedController] });

    expect(await app.statuses(4, '/replaced/1')).toEqual([200, 200, 200, 429]);
  });

  it('gives the inherited method of each class a budget of its own', async () => {
    const app = await start(platform, { controllers: [BaseController, SubController] });

    expect(await app.statuses(2, '/base/inherited')).toEqual([200, 429]);
    expect(await app.statuses(2, '/sub/inherited')).toEqual([200, 429]);
  });

  it('applies the rules of a base class to each concrete controller as a whole', async () => {
    const app = await start(platform, { controllers: [OneController, TwoController] });

    expect(await app.statuses(1, '/one/1')).toEqual([200]);
    expect(await app.statuses(2, '/one/2')).toEqual([200, 429]);
    expect(await app.statuses(3, '/two/2')).toEqual([200, 200, 429]);
  });

  it('keeps the classes of a mixin apart', async () => {
    const app = await start(platform, { controllers: [listOf('cats', 1), listOf('dogs', 2)] });

    expect(await app.statuses(3, '/cats')).toEqual([200, 429, 429]);
    expect(await app.statuses(3, '/dogs')).toEqual([200, 200, 429]);
  });
});
