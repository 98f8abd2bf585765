import { Inject, Optional } from '@nestjs/common';
import { RateLimitConfigurationError } from '../core/errors.ts';
import { acceptLimiter, addCallSite, LIMITER_PROPERTY, limiterOf, nameOfSite, type CallSite } from './call-site.ts';
import type { AnyLimitCallsOptions, LimitCallsOptions } from './limit-calls-options.ts';
import { CALL_LIMITER } from './tokens.ts';

/** A method that returns a promise, and takes at least what the functions of the options ask for. */
type LimitedMethod<Args extends readonly unknown[]> = (...args: [...Args, ...never[]]) => Promise<unknown>;
type Method = (...args: unknown[]) => unknown;

/**
 * Limits the calls of a method of a provider: a service, a scheduled job, the consumer of a queue. A call above the limit
 * throws {@link RateLimitException}, or waits for its turn where `wait` is given. Stacked, they are judged from the top
 * down, and what the upper took stays taken when the lower refuses.
 *
 * The method returns a promise. The instance must be built by Nest, in an application with `RateLimitModule`; a call of
 * another instance throws. Subclasses share the budget of a method that they inherit. On handlers of requests use
 * {@link RateLimit}: there it fails the start. Faults in the options are reported when the application starts.
 *
 * @example
 * @LimitCalls({ window: '1m', limit: 50, wait: '2s' })
 */
export function LimitCalls<Args extends readonly unknown[] = []>(
  options: LimitCallsOptions<Args> = {},
): <Limited extends LimitedMethod<Args>>(
  target: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Limited>,
) => void {
  return (target, property, descriptor): void => {
    const site: CallSite = { options: options as unknown as AnyLimitCallsOptions, target, property };
    addCallSite(site);
    const method = (descriptor as PropertyDescriptor | undefined)?.value as unknown;
    // Where there is nothing to limit, the start says so.
    if (typeof target === 'function' || typeof method !== 'function') return;
    descriptor.value = limited(site, method as Method) as unknown as typeof descriptor.value & {};
    acceptLimiter(target);
    Inject(CALL_LIMITER)(target, LIMITER_PROPERTY);
    Optional()(target, LIMITER_PROPERTY);
  };
}

function limited(site: CallSite, method: Method): Method {
  const limitedMethod = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
    const limiter = limiterOf(this);
    if (!limiter) {
      throw new RateLimitConfigurationError([
        `${nameOfSite(site)}: @LimitCalls has no limiter here: RateLimitModule is not imported, or Nest did not build the instance`,
      ]);
    }
    await limiter.take(site, args);
    return method.apply(this, args);
  };
  // What decorators below have said of the method is true of this one.
  for (const key of Reflect.getOwnMetadataKeys(method) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), limitedMethod);
  }
  for (const name of ['name', 'length'] as const) {
    Object.defineProperty(limitedMethod, name, { value: method[name], configurable: true });
  }
  return limitedMethod;
}
