import type { RedisConnectionOptions } from '../../src/redis/connection-options.ts';

/** The servers that an application has its limits in. */
export interface Site {
  /** As the application is told. */
  readonly redis: string | RedisConnectionOptions;
  /**
   * When the first entry after this moment was made that is in the log of the sale; milliseconds since 1970, undefined
   * when there is none.
   */
  entryAfter(moment: number): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** What holds while something goes wrong, and after it. */
export interface Expected {
  /**
   * Whether the store is to be told as lost, once, and as found again, once: `possibly` where it need not be noticed,
   * `for single calls` where it is not the store that is lost.
   */
  readonly outage: 'certainly' | 'possibly' | 'never' | 'for single calls';
  /** So many times its limit a rule may admit in one window: twice where Redis forgets, once where it does not. */
  readonly bound: 1 | 2;
}

/** One thing that goes wrong with Redis. */
export interface Scenario<S extends Site = Site> {
  /** What an application meets: `a Redis that …`. */
  readonly name: string;
  site(): Promise<S>;
  begin(site: S): Promise<void>;
  /** Resolves when the cause is gone. */
  end(site: S): Promise<void>;
  /** In the tests, and where there is time. */
  readonly lastsMs: { readonly briefly: number; readonly fully: number };
  /** The application starts when it has begun. */
  readonly isAtStart?: boolean;
  readonly expected: Expected;
}

/** Lets TypeScript know which site this scenario is played on. */
export const scenario = <S extends Site>(parts: Scenario<S>): Scenario => parts;
