import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { MemoryStore, RateLimit, RateLimitModule, type ConsumeRequest, type Decision } from '../../src/index.ts';
import { PLATFORMS, startApp, type TestApp } from '../support/nest-app.ts';

const after = <T>(ms: number, value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms, value));

/** Takes longer than the deadline. */
class SlowGuard implements CanActivate {
  canActivate(context: ExecutionContext): Promise<boolean> {
    context.switchToHttp().getRequest<{ user?: object }>().user = { id: 'a', limit: 1 };
    return after(60, true);
  }
}

const limitOf = (context: ExecutionContext): number =>
  context.switchToHttp().getRequest<{ user: { limit: number } }>().user.limit;

@Controller()
class SlowController {
  @RateLimit({ type: 'IP', limit: () => after(60, 100) }, { limit: 1 })
  @UseGuards(SlowGuard)
  @Get('slow')
  slow(): string {
    return 'ok';
  }

  @RateLimit({ key: () => 'known before the guards', limit: limitOf })
  @UseGuards(SlowGuard)
  @Get('tier')
  tier(): string {
    return 'ok';
  }
}

/** A store that takes its time, as one on the network does. */
class SlowStore extends MemoryStore {
  override async consume(request: ConsumeRequest): Promise<Decision> {
    return super.consume(await after(5, request));
  }
}

describe.each(PLATFORMS)('functions and guards that take long, on %s', (platform) => {
  let app: TestApp;
  afterEach(() => app.close());
  const statuses = async (path: string): Promise<readonly number[]> => {
    @Module({
      imports: [RateLimitModule.forRoot({ store: new SlowStore(), decisionTimeout: '50ms', onStoreError: 'deny' })],
      controllers: [SlowController],
    })
    class AppModule {}
    app = await startApp(AppModule, platform);
    return [(await app.call('GET', path)).status, (await app.call('GET', path)).status];
  };

  it('take nothing from the time that the store has', async () => {
    expect(await statuses('/slow')).toEqual([200, 429]);
  });
});

describe.each(PLATFORMS)('a key rule whose other functions need what the guards find, on %s', (platform) => {
  it('is decided after the guards', async () => {
    @Module({ imports: [RateLimitModule.forRoot()], controllers: [SlowController] })
    class AppModule {}
    const app = await startApp(AppModule, platform);
    expect([(await app.call('GET', '/tier')).status, (await app.call('GET', '/tier')).status]).toEqual([200, 429]);
    await app.close();
  });
});
