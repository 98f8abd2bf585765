import type { ExecutionContext } from '@nestjs/common';
import { MAX_COST, MAX_LIMIT } from '../core/charge.ts';
import { formatDuration, parseDuration } from '../core/duration.ts';
import { show } from '../core/show.ts';
import { storeErrorPolicyFault } from '../core/store-error-policy.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import {
  RATE_LIMIT_OPTION_NAMES,
  RateLimitType,
  type RateLimitMoment,
  type RateLimitOptions,
  type Resolvable,
} from './rate-limit-options.ts';
import type { Rule, RuleKind } from './rule.ts';

/** Where a rule stands. */
export interface Standing {
  /** For messages: the class and method, or the module option. */
  readonly writtenOn: string;
  /** For keys. */
  readonly place: string;
}

type RuleDefaults = Required<Pick<RateLimitOptions, 'window' | 'limit' | 'cost' | 'type' | 'message' | 'onStoreError'>>;

export const RULE_DEFAULTS: RuleDefaults = {
  window: 10,
  limit: 20,
  cost: 1,
  type: 'METHOD',
  message: 'Too many requests, please try again later.',
  onStoreError: 'allow',
};

const MOMENTS: readonly (RateLimitMoment | undefined)[] = ['beforeGuards', 'afterGuards', undefined];
const MOMENT_OF_KIND = { ip: 'beforeGuards', user: 'afterGuards', method: 'afterGuards', key: undefined } as const;
const KIND_OF_TYPE = { METHOD: 'method', IP: 'ip', USER: 'user' } as const;
const NAME = /^[\w.-]{1,64}$/;
const NAME_RULE = 'must be 1 to 64 letters, digits, "_", "." or "-"';

type Parsed<T> = { readonly value: T } | { readonly fault: string };

const parseWindow = (value: unknown): Parsed<number> => {
  const parsed = parseDuration(value);
  return 'fault' in parsed ? parsed : { value: parsed.ms };
};
const parseLimit = (value: unknown): Parsed<number> => {
  const parsed = parseWholeNumber(value, MAX_LIMIT);
  const isTooLarge = 'fault' in parsed && 'value' in parseWholeNumber(value, Number.MAX_SAFE_INTEGER);
  return isTooLarge
    ? { fault: `${parsed.fault}: an exact log holds no more, and compact windows are not built` }
    : parsed;
};
const parseCost = (value: unknown): Parsed<number> => parseWholeNumber(value, MAX_COST);

/** The rule, or undefined when `fault` was told what is wrong with it: every fault, each with option and value. */
export function compileRule(
  options: RateLimitOptions,
  { writtenOn, place }: Standing,
  defaults: Partial<RateLimitOptions>,
  fault: (message: string) => void,
): Rule | undefined {
  const faults: string[] = [];
  const wrong = (option: string, value: unknown, rule: string): void => {
    faults.push(`${writtenOn}: ${option} ${rule}, got ${show(value)}`);
  };
  const finish = (rule?: Rule): Rule | undefined => {
    faults.forEach(fault);
    return faults.length === 0 ? rule : undefined;
  };
  if (typeof options !== 'object' || options === null) {
    wrong('a rule', options, 'must be an object');
    return finish();
  }

  const number = (option: 'window' | 'limit' | 'cost', parse: (value: unknown) => Parsed<number>) => {
    const value: unknown = options[option] ?? defaults[option] ?? RULE_DEFAULTS[option];
    if (typeof value === 'function') return checked(value as () => unknown, parse, `${writtenOn}: ${option}`);
    const parsed = parse(value);
    if ('value' in parsed) return parsed.value;
    wrong(option, value, parsed.fault);
    return 1;
  };

  for (const option of Object.keys(options)) {
    if (!RATE_LIMIT_OPTION_NAMES.includes(option)) {
      wrong(option, options[option as keyof RateLimitOptions], `is no option (${RATE_LIMIT_OPTION_NAMES.join(', ')})`);
    }
  }
  const { key, name, bucket, skip, when } = options;
  const type = options.type ?? defaults.type ?? RULE_DEFAULTS.type;
  const message = options.message ?? defaults.message ?? RULE_DEFAULTS.message;
  const onStoreError = options.onStoreError ?? defaults.onStoreError ?? RULE_DEFAULTS.onStoreError;

  if (!Object.hasOwn(RateLimitType, type)) wrong('type', type, "must be 'METHOD', 'IP' or 'USER'");
  if (key !== undefined && typeof key !== 'function') wrong('key', key, 'must be a function of the context');
  if (key !== undefined && options.type !== undefined)
    wrong('type', type, 'excludes key: the identity is one or the other');
  if (skip !== undefined && typeof skip !== 'function') wrong('skip', skip, 'must be a function of the context');
  if (typeof message !== 'function' && (typeof message !== 'string' || message === '')) {
    wrong('message', message, 'must be a text or a function of the denial and the context');
  }
  if (name !== undefined && !NAME.test(name)) wrong('name', name, NAME_RULE);
  if (bucket !== undefined && !NAME.test(bucket)) wrong('bucket', bucket, NAME_RULE);
  if (!MOMENTS.includes(when)) wrong('when', when, "must be 'beforeGuards' or 'afterGuards'");
  const policyFault = storeErrorPolicyFault(onStoreError);
  if (policyFault) wrong('onStoreError', onStoreError, policyFault);

  const windowMs = number('window', parseWindow);
  const limit = number('limit', parseLimit);
  const cost = number('cost', parseCost);
  if (faults.length === 0 && typeof cost === 'number' && typeof limit === 'number' && cost > limit) {
    wrong('cost', cost, `must not be above the limit of ${limit}: no request would ever be admitted`);
  }
  const kind: RuleKind = key ? 'key' : KIND_OF_TYPE[type];
  return finish({
    writtenOn,
    label: name ?? `${nameOf(limit, String)}-per-${nameOf(windowMs, formatDuration)}`,
    name,
    kind,
    place: bucket === undefined ? place : `bucket ${bucket}`,
    isBucket: bucket !== undefined,
    suffix: bucket === undefined && name !== undefined ? name : '',
    windowMs,
    limit,
    cost,
    key,
    skip,
    message,
    when: when ?? MOMENT_OF_KIND[kind],
    onStoreError,
  });
}

const nameOf = (value: Resolvable<number>, format: (value: number) => string): string =>
  typeof value === 'number' ? format(value) : 'dynamic';

/** The function with its result checked on each request. */
function checked(
  find: (context: ExecutionContext) => unknown,
  parse: (value: unknown) => Parsed<number>,
  option: string,
): (context: ExecutionContext) => number | Promise<number> {
  const check = (value: unknown): number => {
    const parsed = parse(value);
    if ('value' in parsed) return parsed.value;
    throw new TypeError(`${option} ${parsed.fault}, got ${show(value)} from its function`);
  };
  return (context) => {
    const value = find(context);
    return isThenable(value) ? Promise.resolve(value).then(check) : check(value);
  };
}

const isThenable = (value: unknown): boolean => typeof (value as PromiseLike<unknown> | null)?.then === 'function';
