import type { RateLimitOptions } from './rate-limit-options.ts';
import { addRules } from './rule-metadata.ts';

/** Without arguments the defaults are the one rule. */
const orDefault = (rules: readonly RateLimitOptions[]): readonly RateLimitOptions[] =>
  rules.length > 0 ? rules : [{}];

/**
 * Limits a route, or a controller as a whole: all the rules given here, all those of further `@RateLimit` decorators
 * on it, and all that stand further out (on the controller, in `forRoot({ rules })`). A refused request costs none of
 * them anything and gets {@link RateLimitException}.
 *
 * A subclass inherits what stands on its base class; a method that it overrides starts without the base method's.
 * Faults in the options are reported when the application starts.
 *
 * @example
 * @RateLimit({ window: 10, limit: 10, type: 'IP' })
 */
export function RateLimit(...rules: readonly RateLimitOptions[]): ClassDecorator & MethodDecorator {
  return addRules({ rules: orDefault(rules) });
}

/** Like {@link RateLimit}, in place of what stands further out. */
RateLimit.only = (...rules: readonly RateLimitOptions[]): ClassDecorator & MethodDecorator =>
  addRules({ rules: orDefault(rules), only: true });
