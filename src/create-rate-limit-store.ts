import { durationMs, parseDuration, type Duration } from './core/duration.ts';
import { RateLimitConfigurationError } from './core/errors.ts';
import type { RateLimitStore } from './core/rate-limit-store.ts';
import type { RuleOverrideStore } from './core/rule-override-store.ts';
import { show } from './core/show.ts';
import type { StoreEvent } from './core/store-event.ts';
import type { SupervisedStore } from './core/store-health.ts';
import { storeErrorPolicyFault, type StoreErrorPolicy } from './core/store-error-policy.ts';
import { CircuitBreakerStore } from './failure/circuit-breaker-store.ts';
import { DeadlineStore } from './failure/deadline-store.ts';
import { FailurePolicyStore } from './failure/failure-policy-store.ts';
import { FencedStore } from './failure/fenced-store.ts';
import { ForeignStore } from './failure/foreign-store.ts';
import { LocalFallback } from './failure/local-fallback.ts';
import { StoreEvents } from './failure/store-events.ts';
import { MemoryStore } from './memory/memory-store.ts';
import { RefusalCacheStore } from './memory/refusal-cache-store.ts';
import { connectRedisStore } from './redis/connect-redis-store.ts';
import { redisTargetFault, type RedisConnectionOptions } from './redis/connection-options.ts';
import { isRedisClient, type RedisClient } from './redis/redis-client.ts';

/** Options of {@link createRateLimitStore}. */
export interface RateLimitStoreOptions {
  /**
   * A URL (`redis://…`, `rediss://…`), options of ioredis, or a client or Cluster of ioredis that the application
   * owns: that one is never closed. Without it, limits hold for this process only.
   */
  readonly redis?: string | RedisConnectionOptions | RedisClient;
  /** A store of your own, instead of `redis`. */
  readonly store?: RateLimitStore;
  /** First part of every key in Redis. Services that share a Redis each take their own. @default 'rl' */
  readonly keyPrefix?: string;
  /** Longest wait for an answer of the store. @default '100ms' */
  readonly decisionTimeout?: Duration;
  /** What decides when the store cannot, for charges that do not say. @default 'local' */
  readonly onStoreError?: StoreErrorPolicy;
  /**
   * Processes that share the limits: while the store cannot decide, each goes by its share of them. A whole number, or a
   * function that knows it at that moment.
   * @default 1, so each process admits the whole limit
   */
  readonly instances?: number | (() => number);
  /**
   * What is done while the store may have forgotten earlier calls (a restart, a flush, a failover): `'accept'` its
   * decisions, or `'fence'`: admit nothing until it has kept its data for a window, or, with `instances`, each process
   * its share less what it admitted itself.
   * @default 'accept'
   */
  readonly onMemoryLoss?: 'accept' | 'fence';
  /** Told once for each change in what the store can do, and for each mistake in how it is set up. */
  readonly onStoreEvent?: (event: StoreEvent) => void;
}

/** Every option of a store; the compiler keeps it complete. */
const KNOWN_OPTIONS: Record<keyof RateLimitStoreOptions, true> = {
  redis: true,
  store: true,
  keyPrefix: true,
  decisionTimeout: true,
  onStoreError: true,
  instances: true,
  onMemoryLoss: true,
  onStoreEvent: true,
};

export const DEFAULT_DECISION_TIMEOUT = '100ms';

/** What is wrong with the options of a store, one sentence each. */
export function storeOptionFaults(options: RateLimitStoreOptions): readonly string[] {
  const { redis, store, keyPrefix, decisionTimeout, onStoreError, instances, onMemoryLoss } = options;
  const faults: string[] = [];
  const fault = (option: string, value: unknown, rule: string | undefined): void => {
    if (rule !== undefined) faults.push(`option ${option} ${rule}, got ${show(value)}`);
  };
  if (redis !== undefined && store !== undefined) faults.push('options redis and store exclude each other');
  if (isRedisClient(redis)) {
    // It never becomes ready again, and nothing is sent to a client that is not.
    if (redis.status === 'end') fault('redis', redis.status, 'must be a client that was not closed');
  } else if (redis !== undefined) {
    const rule = redisTargetFault(redis);
    if (rule !== undefined) faults.push(`option redis ${rule}`);
  }
  if (store !== undefined && !isStore(store)) {
    fault('store', store, 'must have the methods consume, peek, refund and reset');
  }
  if (keyPrefix !== undefined && !(typeof keyPrefix === 'string' && /^[^{}\s]+$/.test(keyPrefix))) {
    fault('keyPrefix', keyPrefix, 'must be a string without braces and spaces (braces choose the slot of a key)');
  }
  if (decisionTimeout !== undefined) {
    const parsed = parseDuration(decisionTimeout);
    if ('fault' in parsed) fault('decisionTimeout', decisionTimeout, parsed.fault);
    else if (parsed.ms > 60_000) fault('decisionTimeout', decisionTimeout, 'must be at most a minute');
  }
  if (instances !== undefined && typeof instances !== 'function' && !(Number.isInteger(instances) && instances > 0)) {
    fault('instances', instances, 'must be a whole number of processes, or a function that gives it');
  }
  if (onMemoryLoss !== undefined && onMemoryLoss !== 'accept' && onMemoryLoss !== 'fence') {
    fault('onMemoryLoss', onMemoryLoss, "must be 'accept' or 'fence'");
  }
  if (onStoreError !== undefined) fault('onStoreError', onStoreError, storeErrorPolicyFault(onStoreError));
  return faults;
}

/**
 * The store that the module uses, wrappers included: it answers within `decisionTimeout`, and by `onStoreError` when
 * Redis does not. Waits at most 2 s for Redis; a Redis that is down is no error here.
 *
 * @throws RateLimitConfigurationError for options that cannot work, a wrong password among them
 */
export async function createRateLimitStore(options: RateLimitStoreOptions = {}): Promise<SupervisedStore> {
  const unknown = Object.keys(options).filter((name) => !(name in KNOWN_OPTIONS));
  const faults = [...unknown.map((name) => `option ${name} is no option of a store`), ...storeOptionFaults(options)];
  if (faults.length > 0) throw new RateLimitConfigurationError(faults);
  const { redis, keyPrefix = 'rl', decisionTimeout = DEFAULT_DECISION_TIMEOUT } = options;
  const { onStoreError = 'local', instances = 1 } = options;
  const onEvent = harmless(options.onStoreEvent);
  const events = new StoreEvents(onEvent);
  // The in-process store answers at once: a deadline would only cost time, and there is nothing to fall back to.
  if (!redis && !options.store) return new FailurePolicyStore(new MemoryStore(), { onStoreError, events });

  const { store, failure, ruleOverrides } = options.store
    ? { store: new ForeignStore(options.store) }
    : await connectRedisStore(redis!, { keyPrefix, onEvent });
  if (failure) events.failed(failure);
  const guarded = new CircuitBreakerStore(new DeadlineStore(store, durationMs(decisionTimeout)));
  const hasFence = options.onMemoryLoss === 'fence';
  const isFence = hasFence && options.instances !== undefined;
  const local = new LocalFallback({
    instances: typeof instances === 'function' ? instances : () => instances,
    onFull: (error) => events.failed(error),
    isFence,
  });
  const decider = hasFence ? new FencedStore(guarded, isFence ? local : undefined) : guarded;
  const policies = { onStoreError, events, vitals: guarded, local, remembersAll: hasFence };
  const supervisedStore = new FailurePolicyStore(decider, policies);
  // Times of a store of somebody else may be of another clock, as in tests that give it.
  if (options.store) return supervisedStore;
  const cached = new RefusalCacheStore(supervisedStore);
  if (ruleOverrides) overridesBeside.set(cached, ruleOverrides);
  return cached;
}

const overridesBeside = new WeakMap<RateLimitStore, () => RuleOverrideStore>();

/** Overrides of rules in the Redis of this store, if it is one that {@link createRateLimitStore} made on a Redis. */
export const ruleOverridesBeside = (store: RateLimitStore): RuleOverrideStore | undefined =>
  overridesBeside.get(store)?.();

/** A listener that fails harms no decision. */
const harmless =
  (listener: RateLimitStoreOptions['onStoreEvent']) =>
  (event: StoreEvent): void => {
    try {
      listener?.(event);
    } catch {
      // Nobody is there to hear of it.
    }
  };

const isStore = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ['consume', 'peek', 'refund', 'reset'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'function',
  );
