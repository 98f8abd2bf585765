import { within } from './core/deadline.ts';
import { durationMs, parseDuration, type Duration } from './core/duration.ts';
import { RateLimitConfigurationError, StoreUnavailableError } from './core/errors.ts';
import type { RateLimitStore } from './core/rate-limit-store.ts';
import { show } from './core/show.ts';
import { storeErrorPolicyFault, type StoreErrorPolicy } from './core/store-error-policy.ts';
import { DeadlineStore } from './failure/deadline-store.ts';
import { FailurePolicyStore, type StoreEvent } from './failure/failure-policy-store.ts';
import { MemoryStore } from './memory/memory-store.ts';
import { becomeReady, closeRedis, openRedis, type RedisConnectionOptions } from './redis/open-redis.ts';
import { isClusterClient, isRedisClient, type RedisClient } from './redis/redis-client.ts';
import { RedisStore } from './redis/redis-store.ts';
import { SlotStore } from './redis/slot-store.ts';

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
  /** What decides when the store cannot, for charges that do not say. @default 'allow' */
  readonly onStoreError?: StoreErrorPolicy;
  /** Told once for each change in what the store can do. */
  readonly onStoreEvent?: (event: StoreEvent) => void;
}

/** The longest that a start waits for Redis; then the application starts by its failure policy. */
const START_PATIENCE_MS = 2_000;

/** What is wrong with the options of a store, one sentence each. */
export function storeOptionFaults(options: RateLimitStoreOptions): readonly string[] {
  const { redis, store, keyPrefix, decisionTimeout, onStoreError } = options;
  const faults: string[] = [];
  const fault = (option: string, value: unknown, rule: string): void => {
    faults.push(`option ${option} ${rule}, got ${show(value)}`);
  };
  if (redis !== undefined && store !== undefined) faults.push('options redis and store exclude each other');
  if (typeof redis === 'string' ? !/^rediss?:\/\//.test(redis) : redis !== undefined && !isObject(redis)) {
    fault('redis', redis, "must be a URL like 'redis://localhost:6379', options of ioredis, or a client of ioredis");
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
  const policyFault = onStoreError === undefined ? undefined : storeErrorPolicyFault(onStoreError);
  if (policyFault) fault('onStoreError', onStoreError, policyFault);
  return faults;
}

/**
 * The store that the module uses, wrappers included: it answers within `decisionTimeout`, and by `onStoreError` when
 * it cannot. Waits at most 2 s for Redis; a Redis that is down is no error here.
 *
 * @throws RateLimitConfigurationError for options that cannot work, a wrong password among them
 */
export async function createRateLimitStore(options: RateLimitStoreOptions = {}): Promise<RateLimitStore> {
  const faults = storeOptionFaults(options);
  if (faults.length > 0) throw new RateLimitConfigurationError(faults);
  const { redis, keyPrefix = 'rl', decisionTimeout = '100ms', onStoreError = 'allow', onStoreEvent } = options;
  const policy = { onStoreError, onEvent: onStoreEvent };
  const deadlineMs = durationMs(decisionTimeout);

  if (options.store) return new FailurePolicyStore(new DeadlineStore(options.store, deadlineMs), policy);
  // The in-process store answers at once: a deadline would only cost time.
  if (!redis) return new FailurePolicyStore(new MemoryStore(), policy);
  const { store, failure } = await redisStore(redis, keyPrefix, deadlineMs);
  return new FailurePolicyStore(new DeadlineStore(store, deadlineMs), { ...policy, failure });
}

async function redisStore(
  redis: string | RedisConnectionOptions | RedisClient,
  keyPrefix: string,
  deadlineMs: number,
): Promise<{ store: RateLimitStore; failure: StoreUnavailableError | undefined }> {
  const owned = isRedisClient(redis) ? undefined : await openRedis(redis);
  const client = owned ?? (redis as RedisClient);
  const store = new RedisStore(client, { keyPrefix, close: async () => owned && closeRedis(owned) });
  const failure = (await becomeReady(client, START_PATIENCE_MS)) ?? (await failureOf(store.prepare()));
  if (failure?.kind === 'no-permission') {
    await store.close();
    throw new RateLimitConfigurationError([`option redis: the server refuses this user: ${failure.message}`]);
  }
  return { store: isClusterClient(client) ? new SlotStore(store, deadlineMs) : store, failure };
}

async function failureOf(attempt: Promise<void>): Promise<StoreUnavailableError | undefined> {
  const late = (): Error => new StoreUnavailableError('timeout', `no answer from Redis within ${START_PATIENCE_MS} ms`);
  try {
    await within(START_PATIENCE_MS, attempt, late);
    return undefined;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return error;
    throw error;
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const isStore = (value: unknown): boolean =>
  isObject(value) &&
  ['consume', 'peek', 'refund', 'reset'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'function',
  );
