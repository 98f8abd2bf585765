import { MAX_LIMIT } from '../core/charge.ts';
import { parseDuration } from '../core/duration.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import type { BlockOptions } from './rate-limit-options.ts';

/** After so many refusals within a time, who was refused is refused whatever room there is, for a time. */
export interface RuleBlock {
  readonly after: number;
  readonly withinMs: number;
  readonly forMs: number;
}

const parseMs = (value: unknown): { readonly value: number } | { readonly fault: string } => {
  const parsed = parseDuration(value);
  return 'fault' in parsed ? parsed : { value: parsed.ms };
};

const PARSE = {
  after: (value: unknown) => parseWholeNumber(value, MAX_LIMIT),
  within: parseMs,
  for: parseMs,
} as const satisfies Record<keyof BlockOptions, unknown>;
const NAMES = Object.keys(PARSE);

/** The option `block`, or undefined when `wrong` was told what is wrong with it, or there is none. */
export function parseBlock(
  block: unknown,
  wrong: (option: string, value: unknown, rule: string) => void,
): RuleBlock | undefined {
  if (block === undefined) return undefined;
  if (typeof block !== 'object' || block === null || Array.isArray(block)) {
    wrong('block', block, `must be an object of ${NAMES.join(', ')}`);
    return undefined;
  }
  for (const [name, value] of Object.entries(block)) {
    if (!NAMES.includes(name)) wrong(`block.${name}`, value, `is no option (${NAMES.join(', ')})`);
  }
  const given = block as Readonly<Record<keyof BlockOptions, unknown>>;
  const number = (name: keyof BlockOptions): number => {
    const parsed = PARSE[name](given[name]);
    if ('value' in parsed) return parsed.value;
    wrong(`block.${name}`, given[name], parsed.fault);
    return 1;
  };
  return { after: number('after'), withinMs: number('within'), forMs: number('for') };
}

export const isSameBlock = (a: RuleBlock | undefined, b: RuleBlock | undefined): boolean =>
  a?.after === b?.after && a?.withinMs === b?.withinMs && a?.forMs === b?.forMs;
