import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, Scope, type DynamicModule } from '@nestjs/common';
import { RateLimitModule, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { connectionsDuring } from '../support/counting-server.ts';
import { startErrorOf } from '../support/start-error.ts';

describe('the module fails the start', () => {
  const importing = (...imports: NonNullable<DynamicModule['imports']>): DynamicModule => ({
    module: class Root {},
    imports,
  });

  it('when it is imported twice', async () => {
    @Module({ imports: [RateLimitModule.forRoot({ defaults: { limit: 5 } })] })
    class FeatureModule {}
    const error = await startErrorOf(importing(FeatureModule, RateLimitModule.forRoot({ defaults: { limit: 6 } })));

    expect(error?.message).toMatch(/imported once.*forRoot.*imported 2 times/);
  });

  it('when it is imported twice, with forRoot and with forRootAsync', async () => {
    const error = await startErrorOf(
      importing(RateLimitModule.forRoot(), RateLimitModule.forRootAsync({ useFactory: () => ({}) })),
    );

    expect(error?.message).toMatch(/imported once.*forRoot.*imported 2 times/);
  });

  it('before a connection opens', async () => {
    const connections = await connectionsDuring((redis) =>
      startErrorOf(importing(RateLimitModule.forRoot({ redis }), RateLimitModule.forRoot({ redis }))),
    );

    expect(connections).toBe(0);
  });

  it('when the bare class is imported', async () => {
    expect((await startErrorOf(importing(RateLimitModule)))?.message).toMatch(/forRoot.*bare class/);
  });

  it('when the bare class is imported besides', async () => {
    expect((await startErrorOf(importing(RateLimitModule, RateLimitModule.forRoot())))?.message).toMatch(
      /imported once.*forRoot/,
    );
  });

  it('but not when modules share the one that forRoot gave', async () => {
    const limits = RateLimitModule.forRoot();
    @Module({ imports: [limits] })
    class FeatureModule {}

    expect(await startErrorOf(importing(FeatureModule, limits))).toBeUndefined();
  });

  it('when its options cannot be made', async () => {
    const useFactory = (): Promise<RateLimitModuleOptions> => Promise.reject(new Error('no settings'));

    expect((await startErrorOf(importing(RateLimitModule.forRootAsync({ useFactory }))))?.message).toContain(
      'no settings',
    );
  });

  it('when its options depend on a request, since there are none before it', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class RequestSettings {}
    @Module({ providers: [RequestSettings], exports: [RequestSettings] })
    class RequestSettingsModule {}
    const limits = RateLimitModule.forRootAsync({
      imports: [RequestSettingsModule],
      inject: [RequestSettings],
      useFactory: () => ({}),
    });

    expect((await startErrorOf(importing(limits)))?.message).toMatch(/forRootAsync .*request-scoped/);
  });
});
