import type { ExecutionContext } from '@nestjs/common';
import { MAX_LIMIT } from '../core/charge.ts';
import { parseDuration } from '../core/duration.ts';
import { show } from '../core/show.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import { isThenable } from './answers.ts';
import type { NumberFault, NumberOption, ParsedNumber, RuleNumber } from './rule-number.ts';
import { parseTiers, type Tiers } from './tier-numbers.ts';
import { tierTableOf } from './tiers.ts';

function parseWindow(value: unknown): ParsedNumber {
  const parsed = parseDuration(value);
  return 'fault' in parsed ? parsed : { value: parsed.ms };
}

const PARSE: Readonly<Record<NumberOption, (value: unknown) => ParsedNumber>> = {
  window: parseWindow,
  limit: (value) => parseWholeNumber(value, MAX_LIMIT),
  cost: (value) => parseWholeNumber(value, MAX_LIMIT, 0),
};
/** A cost from a function may be anything that a client can bring about: what is too much is refused, not a fault. */
const PARSE_RESULT = { ...PARSE, cost: (value: unknown) => parseWholeNumber(value, Number.MAX_SAFE_INTEGER, 0) };

type Find = (context: ExecutionContext) => unknown;
/** One for each function and option, so that rules with the same function are known to have the same value. */
const checkedFunctions: Readonly<Record<NumberOption, WeakMap<Find, RuleNumber>>> = {
  window: new WeakMap(),
  limit: new WeakMap(),
  cost: new WeakMap(),
};
const tiersOfNumbers = new WeakMap<object, Tiers>();

/** The tiers that a number is found by; undefined where it is found otherwise, or not at all. */
export const tiersOf = (number: RuleNumber): Tiers | undefined =>
  typeof number === 'function' ? tiersOfNumbers.get(number) : undefined;

/** The number of an option, or its function with the result checked on each request. */
export function parseNumberOption(
  option: NumberOption,
  value: unknown,
): { readonly value: RuleNumber } | { readonly faults: readonly NumberFault[] } {
  if (typeof value !== 'function') {
    const parsed = PARSE[option](value);
    return 'value' in parsed ? parsed : { faults: [{ what: option, value, rule: parsed.fault }] };
  }
  const find = value as Find;
  const known = checkedFunctions[option].get(find);
  if (known !== undefined) return { value: known };
  const table = tierTableOf(find);
  const tiers = table && parseTiers(option, table, PARSE[option]);
  if (tiers && 'faults' in tiers) return tiers;
  const checked = tiers ? tiers.find : withCheckedResult(option, find);
  if (tiers) tiersOfNumbers.set(checked, tiers);
  checkedFunctions[option].set(find, checked);
  return { value: checked };
}

function withCheckedResult(option: NumberOption, find: Find): Exclude<RuleNumber, number> {
  const check = (result: unknown): number => {
    const parsed = PARSE_RESULT[option](result);
    if ('value' in parsed) return parsed.value;
    throw new TypeError(`${option} ${parsed.fault}, got ${show(result)} from its function`);
  };
  return (answers) => {
    const result = answers.of(find);
    return isThenable(result) ? Promise.resolve(result).then(check) : check(result);
  };
}
