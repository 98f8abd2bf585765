import type { ExecutionContext } from '@nestjs/common';
import { MAX_LIMIT } from '../core/charge.ts';
import { parseDuration } from '../core/duration.ts';
import { show } from '../core/show.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import type { Resolvable } from './rate-limit-options.ts';

export type NumberOption = 'window' | 'limit' | 'cost';
type Parsed = { readonly value: number } | { readonly fault: string };

function parseWindow(value: unknown): Parsed {
  const parsed = parseDuration(value);
  return 'fault' in parsed ? parsed : { value: parsed.ms };
}

const PARSE: Readonly<Record<NumberOption, (value: unknown) => Parsed>> = {
  window: parseWindow,
  limit: (value) => parseWholeNumber(value, MAX_LIMIT),
  cost: (value) => parseWholeNumber(value, MAX_LIMIT, 0),
};
/** A cost from a function may be anything that a client can bring about: what is too much is refused, not a fault. */
const PARSE_RESULT = { ...PARSE, cost: (value: unknown) => parseWholeNumber(value, Number.MAX_SAFE_INTEGER, 0) };

type Find = (context: ExecutionContext) => unknown;
/** One for each function and option, so that rules with the same function are known to have the same value. */
const checkedFunctions: Readonly<Record<NumberOption, WeakMap<Find, Resolvable<number>>>> = {
  window: new WeakMap(),
  limit: new WeakMap(),
  cost: new WeakMap(),
};

/** The number of an option (milliseconds for `window`), or its function with the result checked on each request. */
export function parseNumberOption(
  option: NumberOption,
  value: unknown,
): { readonly value: Resolvable<number> } | { readonly fault: string } {
  if (typeof value !== 'function') return PARSE[option](value);
  let checked = checkedFunctions[option].get(value as Find);
  if (!checked) checkedFunctions[option].set(value as Find, (checked = withCheckedResult(option, value as Find)));
  return { value: checked };
}

function withCheckedResult(option: NumberOption, find: Find): (context: ExecutionContext) => number | Promise<number> {
  const check = (result: unknown): number => {
    const parsed = PARSE_RESULT[option](result);
    if ('value' in parsed) return parsed.value;
    throw new TypeError(`${option} ${parsed.fault}, got ${show(result)} from its function`);
  };
  return (context) => {
    const result = find(context);
    return isThenable(result) ? Promise.resolve(result).then(check) : check(result);
  };
}

const isThenable = (value: unknown): boolean => typeof (value as PromiseLike<unknown> | null)?.then === 'function';
