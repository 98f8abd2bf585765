import { afterEach } from '@jest/globals';
import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { MemoryStore, RateLimitModule, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { ManualClock } from './manual-clock.ts';
import { startApp, type Answer, type CallOptions, type Platform, type StartOptions, type TestApp } from './nest-app.ts';
import { RecordingStore } from './recording-store.ts';

type Import = Type | DynamicModule;

export interface LimitedAppParts extends StartOptions {
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Provider[];
  /** What the root module imports, given the rate limit module. */
  readonly imports?: (limits: DynamicModule) => readonly Import[];
  readonly options?: RateLimitModuleOptions;
}

/** An application whose limits live in this process, with the time that the test gives. */
export interface LimitedApp extends TestApp {
  readonly clock: ManualClock;
  readonly store: RecordingStore;
  readonly get: (path: string, options?: CallOptions) => Promise<Answer>;
  readonly post: (path: string, options?: CallOptions) => Promise<Answer>;
  /** The status of each of so many calls, one after another. */
  readonly statuses: (times: number, path: string, options?: CallOptions) => Promise<readonly number[]>;
}

export type StartLimitedApp = (platform: Platform, parts: LimitedAppParts) => Promise<LimitedApp>;

export function rootModule(parts: Omit<LimitedAppParts, keyof StartOptions>): DynamicModule {
  const { controllers = [], providers = [], imports = (limits) => [limits], options } = parts;
  return {
    module: class Root {},
    imports: [...imports(RateLimitModule.forRoot(options))],
    controllers: [...controllers],
    providers: [...providers],
  };
}

/** Starts applications for one test file, and closes each after its test. */
export function useApps(): StartLimitedApp {
  const started: TestApp[] = [];
  afterEach(async () => {
    for (const app of started.splice(0)) await app.close();
  });
  return async (platform, { options, ...parts }) => {
    const clock = new ManualClock();
    const store = new RecordingStore(new MemoryStore({ now: clock.now }));
    const hasStore = options?.store ?? options?.redis;
    const module = rootModule({ ...parts, options: hasStore ? options : { ...options, store } });
    const app = await startApp(module, platform, parts);
    started.push(app);
    return { ...app, ...shorthands(app), clock, store };
  };
}

function shorthands(app: TestApp): Pick<LimitedApp, 'get' | 'post' | 'statuses'> {
  return {
    get: (path, options) => app.call('GET', path, options),
    post: (path, options) => app.call('POST', path, options),
    statuses: async (times, path, options) => {
      const statuses: number[] = [];
      for (let i = 0; i < times; i++) statuses.push((await app.call('GET', path, options)).status);
      return statuses;
    },
  };
}
