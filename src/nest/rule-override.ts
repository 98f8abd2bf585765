import type { OverrideValues } from '../core/rule-override-store.ts';
import { show } from '../core/show.ts';
import type { RateLimitMode, RateLimitOptions } from './rate-limit-options.ts';

/** Options of a rule that can be changed while it is in force, as values and in the forms of the decorator. */
export interface RuleOverride {
  /** Units admitted in any window. */
  readonly limit?: number | string;
  /** Length of the sliding window: seconds as a number, or `'10s'`, `'1m'`, … */
  readonly window?: Exclude<RateLimitOptions['window'], (...args: never) => unknown>;
  /** Units that one request takes. */
  readonly cost?: number | string;
  /** What the client is told. */
  readonly message?: string;
  /** Whether the rule refuses, or is tried in shadow. It takes the place of `enforcePercent`, too. */
  readonly mode?: RateLimitMode;
  /** The share of identities that it is enforced for. It takes the place of `mode`, too. */
  readonly enforcePercent?: number | string;
}

/** By the names of the rules. */
export type RuleOverrides = Readonly<Record<string, RuleOverride>>;

/** Every option that can be overridden; the compiler keeps it complete. What a value must be is known to the rules. */
const OVERRIDABLE: Record<keyof RuleOverride, true> = {
  limit: true,
  window: true,
  cost: true,
  message: true,
  mode: true,
  enforcePercent: true,
};

/** What is wrong with an override, whatever rule it is for: one sentence each. */
export function overrideFaults(override: unknown): readonly string[] {
  if (typeof override !== 'object' || override === null || Array.isArray(override)) {
    return [`an override must be an object, got ${show(override)}`];
  }
  const given = Object.entries(override).filter(([, value]) => value !== undefined);
  const options = Object.keys(OVERRIDABLE).join(', ');
  if (given.length === 0) return [`an override must change something (${options})`];
  return given.flatMap(([option, value]) => {
    if (!Object.hasOwn(OVERRIDABLE, option)) return [`${option} cannot be overridden (${options} can)`];
    return isStatic(value) ? [] : [`${option} must be a value here, got ${show(value)}`];
  });
}

/** What is kept of an override without faults. */
export const valuesOf = (override: RuleOverride): OverrideValues =>
  Object.fromEntries(Object.entries(override).filter(([, value]) => value !== undefined));

const isStatic = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
