import type { RateLimitOptions } from './rate-limit-options.ts';

/** What stands on one class or method. */
export interface RuleMetadata {
  /** In the order in which they are read, from top to bottom. */
  readonly rules: readonly RateLimitOptions[];
  /** Whether `@RateLimit.only` replaces what stands further out. */
  readonly only: boolean;
  /** Whether everything that stands further out is skipped. */
  readonly skipsAll: boolean;
  /** The names that are skipped of what stands further out. */
  readonly skipped: readonly string[];
}

const NOTHING: RuleMetadata = { rules: [], only: false, skipsAll: false, skipped: [] };

// The same in every copy of the library that a process may hold.
const METADATA = Symbol.for('nestjs-floodgate:rules');

/** A class, or the prototype (for static members the class) that declares a method. */
type Target = object;

/**
 * What was written on this very class or method. Kept by (prototype, property) and not on the function, which other
 * decorators may replace; own metadata only, so that a subclass never changes its base.
 */
export const ownRules = (target: Target, property?: string | symbol): RuleMetadata | undefined =>
  (property === undefined
    ? Reflect.getOwnMetadata(METADATA, target)
    : Reflect.getOwnMetadata(METADATA, target, property)) as RuleMetadata | undefined;

/** Decorators run from the bottom up, so what they add goes before what is there. */
export function addRules(added: Partial<RuleMetadata>): ClassDecorator & MethodDecorator {
  return (target: Target, property?: string | symbol): void => {
    const present = ownRules(target, property) ?? NOTHING;
    const combined: RuleMetadata = {
      rules: [...(added.rules ?? []), ...present.rules],
      only: present.only || (added.only ?? false),
      skipsAll: present.skipsAll || (added.skipsAll ?? false),
      skipped: [...(added.skipped ?? []), ...present.skipped],
    };
    if (property === undefined) Reflect.defineMetadata(METADATA, combined, target);
    else Reflect.defineMetadata(METADATA, combined, target, property);
  };
}
