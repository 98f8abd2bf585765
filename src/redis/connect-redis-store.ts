import { within } from '../core/deadline.ts';
import { RateLimitConfigurationError, StoreUnavailableError } from '../core/errors.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import type { RuleOverrideStore } from '../core/rule-override-store.ts';
import type { StoreEvent } from '../core/store-event.ts';
import { clientOptionsWarning } from './client-options.ts';
import { becomeReady } from './become-ready.ts';
import type { RedisConnectionOptions } from './connection-options.ts';
import { closeRedis, duplicateOf, openRedis, type OwnClient } from './open-redis.ts';
import { isRedisClient, type RedisClient } from './redis-client.ts';
import { RedisRuleOverrides } from './redis-rule-overrides.ts';
import { RedisStore } from './redis-store.ts';
import { ServerWatch } from './server-watch.ts';

/** The longest that a start waits for Redis; then the application starts by its failure policy. */
const START_PATIENCE_MS = 2_000;

interface ConnectOptions {
  readonly keyPrefix: string;
  /** Told of what the servers lose, how their clocks step, and of mistakes in how they or the client are set up. */
  readonly onEvent: (event: StoreEvent) => void;
}

interface Connected {
  readonly store: RateLimitStore;
  /** Why the store cannot decide yet, if it cannot. */
  readonly failure: StoreUnavailableError | undefined;
  /** Overrides of rules in the same Redis; opens nothing yet. */
  readonly ruleOverrides: () => RuleOverrideStore;
}

/**
 * A store on the Redis of this URL or these options, which it closes in the end, or on this client, which it does not.
 *
 * @throws RateLimitConfigurationError for what waiting does not mend
 */
export async function connectRedisStore(
  redis: string | RedisConnectionOptions | RedisClient,
  { keyPrefix, onEvent }: ConnectOptions,
): Promise<Connected> {
  const own = isRedisClient(redis) ? undefined : await openRedis(redis);
  const client = own ?? (redis as RedisClient);
  const warning = own ? undefined : clientOptionsWarning(client);
  if (warning) onEvent(warning);
  const watch = new ServerWatch(onEvent);
  const endWatch = watch.follow(client);
  const close = async (): Promise<void> => {
    endWatch();
    if (own) await closeRedis(own);
  };
  const store = Object.assign(new RedisStore(client, { keyPrefix, watch }), { close });
  const openSubscriber = async (): Promise<OwnClient | undefined> =>
    isRedisClient(redis) ? duplicateOf(redis) : openRedis(redis);
  const ruleOverrides = (): RuleOverrideStore => new RedisRuleOverrides(client, { keyPrefix, openSubscriber });
  try {
    return { store, failure: await obstacle(client, store), ruleOverrides };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Why the store cannot decide yet, if it cannot. @throws RateLimitConfigurationError for what waiting does not mend */
async function obstacle(client: RedisClient, store: RedisStore): Promise<StoreUnavailableError | undefined> {
  const endsAt = performance.now() + START_PATIENCE_MS;
  const failure =
    (await becomeReady(client, START_PATIENCE_MS)) ?? (await failureOf(store.prepare(), endsAt - performance.now()));
  if (failure?.kind !== 'no-permission') return failure;
  throw new RateLimitConfigurationError([`option redis: the server refuses this user: ${failure.message}`]);
}

async function failureOf(attempt: Promise<void>, patienceMs: number): Promise<StoreUnavailableError | undefined> {
  try {
    await within(patienceMs, attempt, () => new StoreUnavailableError('timeout', 'Redis does not answer'));
    return undefined;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return error;
    throw error;
  }
}
