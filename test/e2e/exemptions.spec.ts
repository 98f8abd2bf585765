import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { RateLimit, SkipRateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const FREE = [200, 200, 200, 200, 200];
const APPLICATION = { rules: [{ name: 'application', limit: 4 }] };

@RateLimit({ name: 'controller', limit: 2 }, { name: 'burst', limit: 3, window: 1 })
@Controller('a')
class AController {
  @SkipRateLimit()
  @Get('skips-all')
  skipsAll() {}

  @SkipRateLimit()
  @RateLimit({ limit: 3 })
  @Get('skips-all-but-its-own')
  skipsAllButItsOwn() {}

  @SkipRateLimit('controller', 'burst')
  @Get('skips-controller')
  skipsController() {}

  @SkipRateLimit('application')
  @SkipRateLimit('controller')
  @Get('skips-twice')
  skipsTwice() {}

  @RateLimit.only({ limit: 3 })
  @Get('only')
  only() {}

  @RateLimit.only({ limit: 2 })
  @RateLimit({ limit: 1, window: 1 })
  @Get('only-and-more')
  onlyAndMore() {}

  @RateLimit.only()
  @Get('only-defaults')
  onlyDefaults() {}

  @Get('plain')
  plain() {}
}

@SkipRateLimit()
@Controller('skips')
class SkippingController {
  @Get('free')
  free() {}

  @RateLimit({ limit: 2 })
  @Get('limited')
  limited() {}
}

@RateLimit.only({ limit: 2 })
@Controller('only')
class OnlyController {
  @Get()
  get() {}
}

const controllers = [AController, SkippingController, OnlyController];

describe.each(PLATFORMS)('a route on %s', (platform) => {
  const start = useApps();

  it.each([
    ['is limited by the controller, though the application admits more', '/a/plain', [200, 200, 429, 429, 429]],
    ['skips what stands further out', '/a/skips-all', FREE],
    ['keeps its own rules when it skips the others', '/a/skips-all-but-its-own', [200, 200, 200, 429, 429]],
    ['skips rules by name and keeps the others', '/a/skips-controller', [200, 200, 200, 200, 429]],
    ['keeps rules whose names it does not skip', '/a/skips-twice', [200, 200, 200, 429, 429]],
    ['replaces what stands further out', '/a/only', [200, 200, 200, 429, 429]],
    ['keeps all its own rules when one of them replaces', '/a/only-and-more', [200, 429, 429, 429, 429]],
    ['is exempt with its controller', '/skips/free', FREE],
    ['keeps its own rules when its controller is exempt', '/skips/limited', [200, 200, 429, 429, 429]],
    ['is limited by its controller, which replaces the application', '/only', [200, 200, 429, 429, 429]],
  ])('%s', async (_, path, statuses) => {
    const app = await start(platform, { controllers, options: APPLICATION });

    expect(await app.statuses(5, path)).toEqual(statuses);
  });

  it('takes nothing from the budgets that it is exempt from', async () => {
    const app = await start(platform, { controllers, options: APPLICATION });
    for (const path of ['/a/skips-all', '/a/only', '/skips/free']) await app.statuses(2, path);

    expect(app.store.chargedKeys).toEqual(Array(2).fill('{method:GET /a/only}'));
    expect(await app.statuses(2, '/a/plain')).toEqual([200, 200]);
  });

  it('may replace what stands further out by the default rule', async () => {
    const app = await start(platform, { controllers, options: APPLICATION });
    await app.get('/a/only-defaults');

    expect(app.store.consumed[0]!.charges).toEqual([expect.objectContaining({ limit: 20, windowMs: 10_000 })]);
  });
});

@Controller()
class SeveralController {
  @RateLimit({ limit: 4 }, { limit: 2, window: 1 })
  @Get('in-one-decorator')
  inOne() {}

  @RateLimit({ limit: 4 })
  @RateLimit({ limit: 2, window: 1 })
  @Get('in-stacked-decorators')
  stacked() {}

  @RateLimit()
  @Get('defaults')
  defaults() {}
}

describe.each(PLATFORMS)('several rules on %s', (platform) => {
  const start = useApps();

  it.each(['/in-one-decorator', '/in-stacked-decorators'])('%s apply all', async (path) => {
    const app = await start(platform, { controllers: [SeveralController] });

    expect(await app.statuses(3, path)).toEqual([200, 200, 429]);
    app.clock.advance(1_000);
    expect(await app.statuses(3, path)).toEqual([200, 200, 429]);
    app.clock.advance(1_000);
    expect(await app.statuses(1, path)).toEqual([429]);
    app.clock.advance(8_000);
    expect(await app.statuses(1, path)).toEqual([200]);
  });

  it('are one with the defaults of the module where the decorator gives none', async () => {
    const app = await start(platform, {
      controllers: [SeveralController],
      options: { defaults: { limit: 2, window: '1m', type: 'IP' } },
    });

    expect(await app.statuses(3, '/defaults')).toEqual([200, 200, 429]);
    expect(app.store.consumed[0]!.charges).toEqual([
      expect.objectContaining({ key: '{ip:127.0.0.1}:GET /defaults', limit: 2, windowMs: 60_000 }),
    ]);
  });
});
