import { RateLimitConfigurationError } from '../core/errors.ts';
import { show } from '../core/show.ts';

/**
 * Checks the options of a module that has one, which is an object with these methods.
 *
 * @throws RateLimitConfigurationError that names module, option and value
 */
export function checkOptions(
  module: string,
  options: object,
  { name, methods, example }: { readonly name: string; readonly methods: readonly string[]; readonly example: string },
): void {
  const faults = Object.keys(options).flatMap((option) =>
    option === name ? [] : [`${module}: ${option} is no option (${name})`],
  );
  const value = (options as Readonly<Record<string, unknown>>)[name];
  const has = (method: string): boolean => typeof (value as Record<string, unknown>)[method] === 'function';
  if (value !== undefined && !(typeof value === 'object' && value !== null && methods.every(has))) {
    faults.push(`${module}: option ${name} must be ${example}, got ${show(value)}`);
  }
  if (faults.length > 0) throw new RateLimitConfigurationError(faults);
}
