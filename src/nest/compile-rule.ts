import { formatDuration } from '../core/duration.ts';
import { show } from '../core/show.ts';
import { storeErrorPolicyFault } from '../core/store-error-policy.ts';
import { parseBlock } from './block-option.ts';
import { enforcedShareFault, enforcedShareOf, percentFault } from './enforced-percent.ts';
import { limitFaults } from './limit-faults.ts';
import { layoutFor } from './outcome.ts';
import { RATE_LIMIT_OPTION_NAMES, RateLimitType, type RateLimitOptions } from './rate-limit-options.ts';
import type { Rule, RuleKind } from './rule.ts';
import type { NumberOption, RuleNumber } from './rule-number.ts';
import { parseNumberOption } from './rule-numbers.ts';
import { warmUpFault, warmUpOf } from './warm-up-option.ts';

/** Where a rule stands. */
export interface Standing {
  /** For messages: the class and method, or the module option. */
  readonly writtenOn: string;
  /** For keys. */
  readonly place: string;
}

type Defaulted = 'window' | 'limit' | 'cost' | 'count' | 'type' | 'message' | 'onStoreError';

export const RULE_DEFAULTS = {
  window: 10,
  limit: 20,
  cost: 1,
  count: 'all',
  type: 'METHOD',
  message: 'Too many requests, please try again later.',
  onStoreError: 'local',
} as const satisfies Required<Pick<RateLimitOptions, Defaulted>>;

const MOMENT_OF_KIND = { ip: 'beforeGuards', user: 'afterGuards', method: 'afterGuards', key: undefined } as const;
const KIND_OF_TYPE = { METHOD: 'method', IP: 'ip', USER: 'user' } as const;

const functionFault = (value: unknown): string | undefined =>
  typeof value === 'function' ? undefined : 'must be a function of the context';
const nameFault = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.-]{1,64}$/.test(value)
    ? undefined
    : 'must be 1 to 64 letters, digits, "_", "." or "-"';

/** What is wrong with the value of an option that is given, if anything is; numbers are parsed elsewhere. */
const FAULT_IN: Readonly<
  Record<Exclude<keyof RateLimitOptions, NumberOption | 'block'>, (value: unknown) => string | undefined>
> = {
  type: (value) =>
    typeof value === 'string' && Object.hasOwn(RateLimitType, value) ? undefined : "must be 'METHOD', 'IP' or 'USER'",
  message: (value) =>
    typeof value === 'function' || (typeof value === 'string' && value !== '')
      ? undefined
      : 'must be a text or a function of the denial and the context',
  when: (value) =>
    value === 'beforeGuards' || value === 'afterGuards' ? undefined : "must be 'beforeGuards' or 'afterGuards'",
  key: functionFault,
  skip: functionFault,
  count: (value) =>
    typeof value === 'function' || value === 'all' || value === 'failed' || value === 'succeeded'
      ? undefined
      : "must be 'all', 'failed', 'succeeded' or a function of the outcome",
  warmUp: warmUpFault,
  exact: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  name: nameFault,
  bucket: nameFault,
  onStoreError: storeErrorPolicyFault,
  mode: (value) => (value === 'enforce' || value === 'shadow' ? undefined : "must be 'enforce' or 'shadow'"),
  enforcePercent: percentFault,
};

/** The rule, or undefined when `fault` was told what is wrong with it: every fault, each with option and value. */
export function compileRule(
  options: RateLimitOptions,
  { writtenOn, place }: Standing,
  defaults: Partial<RateLimitOptions>,
  fault: (message: string) => void,
): Rule | undefined {
  let isFaulty = false;
  const wrong = (option: string, value: unknown, rule: string): void => {
    isFaulty = true;
    fault(`${writtenOn}: ${option} ${rule}, got ${show(value)}`);
  };
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    wrong('a rule', options, 'must be an object');
    return undefined;
  }
  for (const [option, value] of Object.entries(options)) {
    if (!RATE_LIMIT_OPTION_NAMES.includes(option)) {
      wrong(option, value, `is no option (${RATE_LIMIT_OPTION_NAMES.join(', ')})`);
    }
  }
  const complete: RateLimitOptions = { ...RULE_DEFAULTS, ...withoutUndefined(defaults), ...withoutUndefined(options) };
  for (const [option, faultIn] of Object.entries(FAULT_IN)) {
    const value: unknown = complete[option as keyof RateLimitOptions];
    const rule = value === undefined ? undefined : faultIn(value);
    if (rule !== undefined) wrong(option, value, rule);
  }
  if (options.key !== undefined && options.type !== undefined) {
    wrong('type', options.type, 'excludes key: the identity is one or the other');
  }
  const block = parseBlock(complete.block, wrong);
  if (block && !complete.key && complete.type === 'METHOD') {
    wrong('block', complete.block, 'needs type IP or USER, or a key: one client would lock out all others');
  }
  const number = (option: NumberOption): RuleNumber => {
    const parsed = parseNumberOption(option, complete[option]);
    if ('value' in parsed) return parsed.value;
    for (const { what, value, rule } of parsed.faults) wrong(what, value, rule);
    return 1;
  };
  const [windowMs, limit, cost] = [number('window'), number('limit'), number('cost')];
  const layout = complete.exact ? 'exact' : undefined;
  const warmUp = warmUpOf(complete);
  const limitsFound = isFaulty ? [] : limitFaults({ limit, cost, layout, warmUp });
  for (const { what, value, rule } of limitsFound) wrong(what, value, rule);
  const shareFault = enforcedShareFault(options, complete);
  if (shareFault !== undefined) wrong('enforcePercent', options.enforcePercent, shareFault);
  if (isFaulty) return undefined;

  const { key, name, bucket, skip, type, when, count, message, onStoreError } = complete;
  const kind: RuleKind = key ? 'key' : KIND_OF_TYPE[type!];
  return {
    writtenOn,
    label: name ?? `${described(limit, String)}-per-${described(windowMs, formatDuration)}`,
    name,
    kind,
    place: bucket === undefined ? place : `bucket ${bucket}`,
    isBucket: bucket !== undefined,
    suffix: bucket === undefined && name !== undefined ? name : '',
    windowMs,
    writtenWindowMs: windowMs,
    limit,
    cost,
    hasFunctions: [key, skip, windowMs, limit, cost].some((part) => typeof part === 'function'),
    layout: layout ?? layoutFor(count!, limit, cost, warmUp),
    count: count!,
    warmUp,
    key,
    block,
    skip,
    message: message!,
    when: when ?? MOMENT_OF_KIND[kind],
    onStoreError: onStoreError!,
    enforcePercent: enforcedShareOf(complete),
  };
}

/** A copy without the members that are undefined, which would hide what they are spread over. */
export const withoutUndefined = <T extends object>(options: T): Partial<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;

const described = (value: RuleNumber, format: (value: number) => string): string =>
  typeof value === 'number' ? format(value) : 'dynamic';
