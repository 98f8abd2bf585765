import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';
import { from } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

describe.each(PLATFORMS)('where a rule stands on %s', (platform) => {
  const start = useApps();

  it('on a method it limits that handler alone', async () => {
    @Controller('a')
    class AController {
      @RateLimit({ limit: 1 })
      @Get('limited')
      limited() {}

      @RateLimit({ limit: 1 })
      @Get('other')
      other() {}

      @Get('free')
      free() {}
    }
    const app = await start(platform, { controllers: [AController] });

    expect(await app.statuses(2, '/a/limited')).toEqual([200, 429]);
    expect(await app.statuses(2, '/a/other')).toEqual([200, 429]);
    expect(await app.statuses(2, '/a/free')).toEqual([200, 200]);
  });

  it('on a controller it is one budget for all its handlers together', async () => {
    @RateLimit({ limit: 3 })
    @Controller('a')
    class AController {
      @Get('1')
      first() {}

      @Get('2')
      second() {}
    }
    @Controller('b')
    class BController {
      @Get()
      free() {}
    }
    const app = await start(platform, { controllers: [AController, BController] });

    expect(await app.statuses(2, '/a/1')).toEqual([200, 200]);
    expect(await app.statuses(2, '/a/2')).toEqual([200, 429]);
    expect(await app.statuses(1, '/a/1')).toEqual([429]);
    expect(await app.statuses(4, '/b')).toEqual([200, 200, 200, 200]);
  });

  it('on a controller it is one budget for each client address, whichever handlers it calls', async () => {
    @RateLimit({ limit: 2, type: 'IP' })
    @Controller('a')
    class AController {
      @Get('1')
      first() {}

      @Get('2')
      second() {}
    }
    const app = await start(platform, { controllers: [AController], trustProxy: true });

    expect(await app.statuses(1, '/a/1', from('203.0.113.1'))).toEqual([200]);
    expect(await app.statuses(2, '/a/2', from('203.0.113.1'))).toEqual([200, 429]);
    expect(await app.statuses(2, '/a/2', from('203.0.113.2'))).toEqual([200, 200]);
  });

  it('in the module it is one budget for the application', async () => {
    @Controller('a')
    class AController {
      @Get()
      get() {}
    }
    @Controller('b')
    class BController {
      @Get()
      get() {}
    }
    const app = await start(platform, { controllers: [AController, BController], options: { rules: [{ limit: 3 }] } });

    expect(await app.statuses(2, '/a')).toEqual([200, 200]);
    expect(await app.statuses(2, '/b')).toEqual([200, 429]);
  });

  it('anywhere, it applies together with all rules on the way', async () => {
    @RateLimit({ limit: 3 })
    @Controller('a')
    class AController {
      @RateLimit({ limit: 2 })
      @Get('1')
      first() {}

      @Get('2')
      second() {}
    }
    @Controller('b')
    class BController {
      @Get()
      get() {}
    }
    const app = await start(platform, { controllers: [AController, BController], options: { rules: [{ limit: 4 }] } });

    expect(await app.statuses(3, '/a/1')).toEqual([200, 200, 429]);
    expect(await app.statuses(2, '/a/2')).toEqual([200, 429]);
    expect(await app.statuses(2, '/b')).toEqual([200, 429]);
  });
});

@Controller()
class CoupledController {
  /** Shares one budget with each of the two other routes. */
  @RateLimit({ bucket: 'left', limit: 2 }, { bucket: 'right', limit: 2 })
  @Get('both')
  both() {}

  @RateLimit({ bucket: 'left', limit: 2 })
  @Get('left')
  left() {}

  @RateLimit({ bucket: 'right', limit: 2 })
  @Get('right')
  right() {}
}

describe.each(PLATFORMS)('two rules in one call on %s', (platform) => {
  const start = useApps();

  it.each([
    ['/left', '/right'],
    ['/right', '/left'],
  ])('take nothing from one budget when %s has used up the other', async (usedUp, other) => {
    const app = await start(platform, { controllers: [CoupledController] });
    await app.statuses(2, usedUp);

    expect(await app.statuses(5, '/both')).toEqual([429, 429, 429, 429, 429]);
    expect(await app.statuses(3, other)).toEqual([200, 200, 429]);
  });

  it('are one charge when they share a bucket: the smallest limit and the largest cost', async () => {
    @RateLimit({ bucket: 'shared', limit: 6 })
    @Controller()
    class OneBucketController {
      @RateLimit({ bucket: 'shared', limit: 4, cost: 2 })
      @Get('narrow')
      narrow() {}

      @Get('wide')
      wide() {}
    }
    const app = await start(platform, { controllers: [OneBucketController] });

    expect(await app.statuses(3, '/narrow')).toEqual([200, 200, 429]);
    expect(await app.statuses(3, '/wide')).toEqual([200, 200, 429]);
  });

  it('admit again as soon as what used one up has left its window', async () => {
    const app = await start(platform, { controllers: [CoupledController] });
    await app.statuses(1, '/left');
    app.clock.advance(4_000);
    await app.statuses(1, '/left');
    app.clock.advance(5_999);

    expect(await app.statuses(1, '/both')).toEqual([429]);
    app.clock.advance(1);
    expect(await app.statuses(2, '/both')).toEqual([200, 429]);
  });
});
