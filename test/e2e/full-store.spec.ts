import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { MemoryStore, RateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';

describe.each(PLATFORMS)('when the in-process store tracks as many clients as it may, on %s', (platform) => {
  const start = useApps();
  let caller = '';

  @Controller()
  class CallersController {
    @RateLimit({ limit: 1, key: () => caller }, { limit: 3, bucket: 'all' })
    @Get('callers')
    get() {}

    @RateLimit({ limit: 1, key: () => caller, onStoreError: 'deny' }, { limit: 3, bucket: 'all' })
    @Get('strict-callers')
    strict() {}

    @RateLimit({ limit: 1, onStoreError: 'deny' })
    @Get('late-comer')
    lateComer() {}
  }

  const startFull = () =>
    start(platform, {
      controllers: [CallersController],
      options: { store: new MemoryStore({ maxKeys: 1 }), onStoreError: 'allow' },
    });

  it('those that it tracks are limited, others are let through by their rule and limited by the rest', async () => {
    const app = await startFull();
    caller = 'one';
    expect(await app.statuses(2, '/callers')).toEqual([200, 429]);
    caller = 'two';

    expect(await app.statuses(3, '/callers')).toEqual([200, 200, 429]);
    caller = 'one';
    expect(await app.statuses(1, '/callers')).toEqual([429]);
  });

  it('what all callers share is limited all the same, though nobody called it before', async () => {
    const app = await startFull();
    caller = 'one';
    await app.statuses(1, '/callers');

    expect(await app.statuses(2, '/late-comer')).toEqual([200, 429]);
  });

  it('those that it does not track are refused as unavailable where their rule denies', async () => {
    const app = await startFull();
    caller = 'one';
    expect(await app.statuses(2, '/strict-callers')).toEqual([200, 429]);
    caller = 'two';

    expect(await app.statuses(2, '/strict-callers')).toEqual([503, 503]);
  });
});
