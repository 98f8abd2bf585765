import { show } from '../core/show.ts';
import { isThenable } from './answers.ts';
import type { NumberFault, NumberOption, ParsedNumber, RuleNumber } from './rule-number.ts';
import { valueOf, type TierFunction, type TierTable } from './tiers.ts';

/** A number by tier, checked. */
export interface Tiers {
  readonly find: Exclude<RuleNumber, number>;
  readonly tierOf: TierFunction;
  /** The number of each tier. */
  readonly numbers: ReadonlyMap<string, number>;
}

const OPTIONS: readonly string[] = ['otherwise'];

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What `tiers` was given, as the values of this option: all that is wrong with it, or the number of each tier. */
export function parseTiers(
  option: NumberOption,
  { values, tierOf, options }: TierTable,
  parse: (value: unknown) => ParsedNumber,
): Tiers | { readonly faults: readonly NumberFault[] } {
  const faults: NumberFault[] = [];
  const wrong = (what: string, value: unknown, rule: string): void => void faults.push({ what, value, rule });
  const numbers = new Map<string, number>();
  const entries = isObject(values) ? Object.entries(values) : [];
  for (const [tier, value] of entries) {
    const parsed = parse(value);
    if ('value' in parsed) numbers.set(tier, parsed.value);
    else wrong(`${option} of tier ${show(tier)}`, value, parsed.fault);
  }
  if (entries.length === 0) wrong(`${option} by tiers`, values, 'must be an object with a value for each tier');
  if (typeof tierOf !== 'function') wrong(`${option} by tiers`, tierOf, 'must have a function that tells the tier');
  const given = isObject(options) ? options : {};
  if (given !== options) wrong(`${option} by tiers`, options, 'must have an object of options');
  for (const [name, value] of Object.entries(given)) {
    if (!OPTIONS.includes(name)) wrong(`${option} by tiers: ${name}`, value, `is no option (${OPTIONS.join(', ')})`);
  }
  const { otherwise } = given as { otherwise?: string | number };
  if (otherwise !== undefined && !entries.some(([tier]) => tier === String(otherwise))) {
    wrong(`${option} by tiers: otherwise`, otherwise, `must be one of ${entries.map(([tier]) => tier).join(', ')}`);
  }
  if (faults.length > 0) return { faults };

  const pick = (tier: unknown): number => {
    try {
      return valueOf(numbers, tier, otherwise);
    } catch (error) {
      throw new TypeError(`${option}: ${(error as Error).message}`);
    }
  };
  const find: Tiers['find'] = (answers) => {
    const tier = answers.of(tierOf as TierFunction);
    return isThenable(tier) ? Promise.resolve(tier).then(pick) : pick(tier);
  };
  return { find, tierOf: tierOf as TierFunction, numbers };
}
