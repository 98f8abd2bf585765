import type { AnyLimitCallsOptions } from './limit-calls-options.ts';

/** One `@LimitCalls` where it stands. */
export interface CallSite {
  readonly options: AnyLimitCallsOptions;
  /** The prototype that declares the method; for a static member the class. */
  readonly target: object;
  readonly property: string | symbol;
}

// The same in every copy of the library that a process may hold.
const SITES = Symbol.for('nestjs-floodgate:call-sites');

/** What stands on members of this very prototype, or of this very class. */
export const ownCallSites = (target: object): readonly CallSite[] =>
  (Reflect.getOwnMetadata(SITES, target) as readonly CallSite[] | undefined) ?? [];

export function addCallSite(site: CallSite): void {
  Reflect.defineMetadata(SITES, [...ownCallSites(site.target), site], site.target);
}

/** `SmsService.send`: the class that declares the method, and the method. */
export function nameOfSite({ target, property }: CallSite): string {
  const type = typeof target === 'function' ? target : target.constructor;
  return `${type.name}.${String(property)}`;
}

/** What is asked before each call of a limited method. */
export interface SiteLimiter {
  take(site: CallSite, args: readonly unknown[]): Promise<void>;
}

/** The member of an instance that Nest injects the limiter into. */
export const LIMITER_PROPERTY = Symbol.for('nestjs-floodgate:limiter-of-calls');

/** Kept apart from the instances, so that nothing that lists or compares their members sees it. */
const limiters = new WeakMap<object, SiteLimiter>();

export const limiterOf = (instance: unknown): SiteLimiter | undefined =>
  typeof instance === 'object' && instance !== null ? limiters.get(instance) : undefined;

/** Lets instances take the limiter that they are given. */
export function acceptLimiter(prototype: object): void {
  Object.defineProperty(prototype, LIMITER_PROPERTY, {
    configurable: true,
    get(this: object) {
      return limiters.get(this);
    },
    set(this: object, limiter: SiteLimiter) {
      limiters.set(this, limiter);
    },
  });
}
