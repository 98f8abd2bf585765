import type { ExecutionContext } from '@nestjs/common';
import { isObservable, type Observable } from 'rxjs';
import { MAX_EXACT_LIMIT, MAX_LIMIT } from '../core/charge.ts';
import { show } from '../core/show.ts';
import { storeOptionFaults, type RateLimitStoreOptions } from '../create-rate-limit-store.ts';
import { compileRule, withoutUndefined } from './compile-rule.ts';
import { HEADER_FORMATS, type HeaderFormat } from './header-format.ts';
import { clientListFaults, type ClientListOptions } from './client-list.ts';
import type { AnonymousPolicy, IdentitySettings } from './identity.ts';
import type { KeyFunction, RateLimitOptions } from './rate-limit-options.ts';
import type { RuleOverrides } from './rule-override.ts';

/** Options of `RateLimitModule.forRoot`. */
export interface RateLimitModuleOptions extends Omit<RateLimitStoreOptions, 'onStoreEvent'>, ClientListOptions {
  /** Defaults of every rule. */
  readonly defaults?: Pick<
    RateLimitOptions,
    'window' | 'limit' | 'exact' | 'type' | 'cost' | 'message' | 'onStoreError' | 'mode'
  >;
  /** Rules of the whole application: one budget each for all its HTTP handlers together. */
  readonly rules?: readonly RateLimitOptions[];
  /** Who is who. */
  readonly identity?: {
    /** The client's address. @default what the HTTP adapter reports, so its `trust proxy` decides */
    readonly ip?: (context: ExecutionContext) => string | undefined;
    /** The authenticated user. @default `request.user`: its `id`, `sub` or `userId` */
    readonly user?: KeyFunction;
    /** IPv6 clients share a budget when so many leading bits of their addresses agree: 32 to 128. @default 64 */
    readonly ipv6Prefix?: number;
    /**
     * What becomes of a request without the user or key that a rule asks for: limited by its address (a budget apart
     * from IP rules), refused with 403, or not limited by that rule. @default 'ip'
     */
    readonly anonymous?: AnonymousPolicy;
  };
  /** Which header fields answers carry besides `Retry-After`: one format, or several. @default 'legacy' */
  readonly headers?: HeaderFormat | readonly HeaderFormat[];
  /** Whether the draft's fields tell a hash of whose budget it is (`pk`). @default false */
  readonly partitionKey?: boolean;
  /** Whether the body of a refusal is problem details (RFC 9457). @default false */
  readonly problemDetails?: boolean;
  /** How `RateLimiter.decisions$` tells whose budget it was: by a hash, or as keys have it. @default 'hashed' */
  readonly decisionIdentities?: 'hashed' | 'plain';
  /**
   * Sets of overrides of rules, by their names, from a configuration of the application's own. Each takes the place of
   * the one before as a whole; a rule that it does not name is that of the code.
   */
  readonly overrides?: Observable<RuleOverrides>;
  /**
   * True: {@link RateLimiter.rules} changes rules in all processes that share `redis`. Takes a second connection, which
   * hears of changes.
   * @default false
   */
  readonly liveRules?: boolean;
  /**
   * False: nothing is limited (tests, emergencies), and no store is connected. A function is asked for each request; where
   * it throws, or gives neither true nor false, limits stay on.
   * @default true
   */
  readonly enabled?: boolean | (() => boolean);
  /**
   * `'manual'`: the application places {@link RateLimitGuard} itself, and all rules are decided where it stands.
   * @default 'global'
   */
  readonly guard?: 'global' | 'manual';
}

/** What `forRootAsync({ useClass })` and `useExisting` call. */
export interface RateLimitOptionsFactory {
  /** @returns the options, as `forRoot` takes them */
  createRateLimitOptions(): RateLimitModuleOptions | Promise<RateLimitModuleOptions>;
}

const KNOWN_OPTIONS: Record<keyof RateLimitModuleOptions, true> = {
  redis: true,
  store: true,
  keyPrefix: true,
  decisionTimeout: true,
  onStoreError: true,
  instances: true,
  onMemoryLoss: true,
  defaults: true,
  rules: true,
  identity: true,
  allow: true,
  deny: true,
  headers: true,
  partitionKey: true,
  problemDetails: true,
  decisionIdentities: true,
  overrides: true,
  liveRules: true,
  enabled: true,
  guard: true,
};
const DEFAULT_OPTIONS: readonly string[] = [
  'window',
  'limit',
  'exact',
  'type',
  'cost',
  'message',
  'onStoreError',
  'mode',
];
const IDENTITY_OPTIONS: readonly string[] = ['ip', 'user', 'ipv6Prefix', 'anonymous'];

export const identitySettings = ({ identity = {} }: RateLimitModuleOptions): IdentitySettings => ({
  ip: identity.ip,
  user: identity.user,
  ipv6Prefix: identity.ipv6Prefix ?? 64,
  anonymous: identity.anonymous ?? 'ip',
});

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with the options, but for the rules in them: one sentence each. */
export function moduleOptionFaults(options: RateLimitModuleOptions): readonly string[] {
  if (!isObject(options)) return [`the options must be an object, got ${show(options)}`];
  const faults: string[] = [];
  const wrong = (option: string, value: unknown, rule: string): void => {
    faults.push(`option ${option} ${rule}, got ${show(value)}`);
  };
  const group = <T extends object>(parent: string, value: T | undefined, names: readonly string[]): Partial<T> => {
    if (value === undefined) return {};
    if (!isObject(value)) {
      wrong(parent, value, 'must be an object');
      return {};
    }
    for (const [name, member] of Object.entries(value)) {
      if (!names.includes(name))
        wrong(`${parent && `${parent}.`}${name}`, member, `is no option (${names.join(', ')})`);
    }
    return value;
  };
  const oneOf = (option: string, value: unknown, values: readonly unknown[]): void => {
    if (value !== undefined && !values.includes(value)) {
      wrong(option, value, `must be one of ${values.map(show).join(', ')}`);
    }
  };
  group('', options, Object.keys(KNOWN_OPTIONS));
  const defaults = group('defaults', options.defaults, DEFAULT_OPTIONS);
  const { ip, user, ipv6Prefix, anonymous } = group('identity', options.identity, IDENTITY_OPTIONS);
  for (const [name, value] of Object.entries({ ip, user })) {
    if (value !== undefined && typeof value !== 'function') {
      wrong(`identity.${name}`, value, 'must be a function of the context');
    }
  }
  if (ipv6Prefix !== undefined && !(Number.isInteger(ipv6Prefix) && ipv6Prefix >= 32 && ipv6Prefix <= 128)) {
    wrong('identity.ipv6Prefix', ipv6Prefix, 'must be a whole number of bits from 32 to 128');
  }
  oneOf('identity.anonymous', anonymous, ['ip', 'deny', 'skip']);
  for (const list of ['allow', 'deny'] as const) faults.push(...clientListFaults(list, options[list]));
  const headers = Array.isArray(options.headers) ? (options.headers as readonly unknown[]) : [options.headers];
  for (const format of headers) oneOf('headers', format, HEADER_FORMATS);
  if (headers.length > 1 && headers.includes('none')) wrong('headers', headers, 'must not mix none with others');
  for (const name of ['partitionKey', 'problemDetails', 'liveRules'] as const)
    oneOf(name, options[name], [true, false]);
  if (!['undefined', 'boolean', 'function'].includes(typeof options.enabled)) {
    wrong('enabled', options.enabled, 'must be true, false or a function that gives either');
  }
  oneOf('decisionIdentities', options.decisionIdentities, ['hashed', 'plain']);
  oneOf('guard', options.guard, ['global', 'manual']);
  if (options.rules !== undefined && !Array.isArray(options.rules)) {
    wrong('rules', options.rules, 'must be a list of rules');
  }
  const { overrides } = options;
  if (overrides !== undefined && !isObservable(overrides)) wrong('overrides', overrides, 'must be an Observable');
  checkDefaults(defaults, (fault) => faults.push(fault));
  return [...faults, ...storeOptionFaults(options)];
}

/** As a rule would be, of the largest limit where they have none: a cost is judged with the limit of each rule. */
function checkDefaults(defaults: RateLimitOptions, fault: (message: string) => void): boolean {
  const limit = defaults.exact ? MAX_EXACT_LIMIT : MAX_LIMIT;
  return compileRule({ limit, ...defaults }, { writtenOn: 'option defaults', place: '' }, {}, fault) !== undefined;
}

/** The defaults that rules start from; those that are faulty are left out, since they were told of. */
export function ruleDefaults({ onStoreError, defaults }: RateLimitModuleOptions): Partial<RateLimitOptions> {
  const given = { onStoreError, ...withoutUndefined(isObject(defaults) ? defaults : {}) };
  return checkDefaults(given, () => undefined) ? given : {};
}
