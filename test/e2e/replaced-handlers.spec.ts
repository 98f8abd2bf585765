import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Module,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { RouterExecutionContext } from '@nestjs/core/router/router-execution-context.js';
import { RateLimit, RateLimitModule } from '../../src/index.ts';
import { PLATFORMS, startApp, type TestApp } from '../support/nest-app.ts';

class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    if (request.headers.user) request.user = { id: request.headers.user };
    return request.user !== undefined;
  }
}

/** A controller whose instances have another function in place of their method. */
function controllerThat(replace: (method: () => string) => () => string, scope = Scope.DEFAULT): Type {
  @UseGuards(AuthGuard)
  @Controller({ path: 'orders', scope })
  class OrdersController {
    constructor() {
      const method = Object.getOwnPropertyDescriptor(OrdersController.prototype, 'order')!.value as () => string;
      this.order = replace(method);
    }

    @RateLimit({ limit: 3, window: 60 }, { type: 'USER', limit: 1, window: 60 })
    @Get()
    order(): string {
      return 'ordered';
    }
  }
  return OrdersController;
}

type Create = (instance: object, callback: (...args: unknown[]) => unknown, ...rest: unknown[]) => unknown;

/** What tracing libraries do to every handler: another function of its name, with a copy of its metadata. */
function traceHandlers(): () => void {
  const prototype = RouterExecutionContext.prototype as unknown as { create: Create };
  const { create } = prototype;
  prototype.create = function (instance, callback, ...rest) {
    const traced = function (this: unknown, ...args: unknown[]): unknown {
      return callback.apply(this, args);
    };
    Object.defineProperty(traced, 'name', { value: callback.name });
    for (const key of Reflect.getMetadataKeys(callback) as string[]) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, callback), traced);
    }
    return create.call(this, instance, traced, ...rest);
  };
  return () => void (prototype.create = create);
}

describe.each(PLATFORMS)('a handler that something else stands in for, on %s', (platform) => {
  let app: TestApp;
  let undo = (): void => undefined;
  afterEach(async () => {
    undo();
    undo = () => undefined;
    await app.close();
  });

  const start = async (controller: Type): Promise<(user?: string) => Promise<number>> => {
    @Module({ imports: [RateLimitModule.forRoot()], controllers: [controller] })
    class AppModule {}
    app = await startApp(AppModule, platform);
    return async (user) => (await app.call('GET', '/orders', { headers: user ? { user } : {} })).status;
  };

  it.each([
    ['bound in the constructor', (method: () => string) => method.bind(undefined)],
    ['wrapped in the constructor', (method: () => string) => () => method()],
    ['left as it is', (method: () => string) => method],
  ])('keeps its rules and their moments when it is %s', async (_, replace) => {
    const order = await start(controllerThat(replace));
    expect([await order(), await order(), await order()]).toEqual([403, 403, 403]);
    expect([await order('a'), await order('b'), await order('a'), await order('c')]).toEqual([200, 200, 429, 200]);
    expect(await order('d')).toBe(429);
  });

  it('keeps them when every handler is traced', async () => {
    undo = traceHandlers();
    const order = await start(controllerThat((method) => method));
    expect([await order(), await order(), await order()]).toEqual([403, 403, 403]);
    expect([await order('a'), await order('b'), await order('a'), await order('c')]).toEqual([200, 200, 429, 200]);
    expect(await order('d')).toBe(429);
  });

  it('is limited before the guards when it is bound anew for each request', async () => {
    const order = await start(controllerThat((method) => method.bind(undefined), Scope.REQUEST));
    expect([await order('a'), await order('b')]).toEqual([200, 429]);
  });

  it('is refused when nothing tells whose rules it has', async () => {
    const order = await start(controllerThat((method) => () => method(), Scope.REQUEST));
    expect(await order('a')).toBe(500);
  });
});
