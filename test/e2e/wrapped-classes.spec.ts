import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { RateLimit, RateLimitModule, type RateLimitModuleOptions } from '../../src/index.ts';
import { PLATFORMS, startApp, type TestApp } from '../support/nest-app.ts';

/** Ways in which decorators put another class in place of the one that was written. */
const WRAPPERS: readonly [string, <T extends Type>(type: T) => T][] = [
  ['a proxy', (type) => new Proxy(type, { construct: (target, args) => Reflect.construct(target, args) as object })],
  [
    'a function with its prototype',
    (type) => {
      function Wrapped(...args: unknown[]): object {
        return Reflect.construct(type, args) as object;
      }
      Wrapped.prototype = type.prototype as object;
      return Wrapped as unknown as typeof type;
    },
  ],
  [
    'a subclass',
    (type) => {
      const Base: Type = type;
      return class extends Base {} as typeof type;
    },
  ],
];

describe.each(PLATFORMS)('a controller that a decorator wrapped, on %s', (platform) => {
  let app: TestApp;
  afterEach(() => app.close());

  const statuses = async (controller: Type, options?: RateLimitModuleOptions): Promise<readonly number[]> => {
    @Module({ imports: [RateLimitModule.forRoot(options)], controllers: [controller] })
    class AppModule {}
    app = await startApp(AppModule, platform);
    const found = [];
    for (let i = 0; i < 3; i++) found.push((await app.call('GET', '/wrapped')).status);
    return found;
  };

  describe.each(WRAPPERS)('in %s', (_, wrap) => {
    it('keeps the rules on its methods', async () => {
      @Controller('wrapped')
      @wrap
      class WrappedController {
        @RateLimit({ limit: 1 })
        @Get()
        get(): string {
          return 'ok';
        }
      }
      expect(await statuses(WrappedController)).toEqual([200, 429, 429]);
    });

    it('keeps the rules on itself, written inside and outside of the wrapper', async () => {
      @Controller('wrapped')
      @RateLimit({ limit: 2, name: 'outside' })
      @wrap
      @RateLimit({ limit: 1, name: 'inside' })
      class WrappedController {
        @Get()
        get(): string {
          return 'ok';
        }
      }
      expect(await statuses(WrappedController)).toEqual([200, 429, 429]);
    });

    it('keeps the rules of the application', async () => {
      @Controller('wrapped')
      @wrap
      class WrappedController {
        @Get()
        get(): string {
          return 'ok';
        }
      }
      expect(await statuses(WrappedController, { rules: [{ limit: 2 }] })).toEqual([200, 200, 429]);
    });
  });
});

// Fastify takes one route once.
describe('one function that is several methods, on express', () => {
  it('keeps the rules of each of them', async () => {
    class BothController {
      first(): string {
        return 'ok';
      }
    }
    const { prototype } = BothController;
    RateLimit({ limit: 1 })(prototype, 'first', Object.getOwnPropertyDescriptor(prototype, 'first')!);
    Get()(prototype, 'first', Object.getOwnPropertyDescriptor(prototype, 'first')!);
    Object.defineProperty(prototype, 'second', Object.getOwnPropertyDescriptor(prototype, 'first')!);
    Controller('wrapped')(BothController);
    @Module({ imports: [RateLimitModule.forRoot()], controllers: [BothController] })
    class AppModule {}
    const app = await startApp(AppModule, 'express');
    const statuses = [(await app.call('GET', '/wrapped')).status, (await app.call('GET', '/wrapped')).status];
    await app.close();
    expect(statuses).toEqual([200, 429]);
  });
});
