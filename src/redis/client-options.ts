import type { StoreWarningEvent } from '../core/store-event.ts';
import { isClusterClient, type RedisClient } from './redis-client.ts';

/** Options of a Redis client that let commands be sent when nobody waits for them any more, and what stops that. */
const OF_A_CLIENT = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false };
const OF_A_CLUSTER = { enableOfflineQueue: false, retryDelayOnClusterDown: 0, retryDelayOnFailover: 0 };

/**
 * What a client of the application does that answering in time suffers from, if its options tell: what it keeps for
 * later is charged when the request has long been answered.
 */
export function clientOptionsWarning(client: RedisClient): StoreWarningEvent | undefined {
  const { options } = client as { options?: Readonly<Record<string, unknown>> };
  if (typeof options !== 'object' || options === null) return undefined;
  const better = Object.entries(isClusterClient(client) ? OF_A_CLUSTER : OF_A_CLIENT);
  const wrong = better.filter(([name, value]) => options[name] !== value);
  if (wrong.length === 0) return undefined;
  const advice = wrong.map(([name, value]) => `${name}: ${value}`).join(', ');
  return {
    type: 'warning',
    code: 'FLOODGATE_CLIENT_OPTIONS',
    message:
      'the Redis client keeps commands while it is not connected, or sends them twice, so that requests can be charged ' +
      `after they were answered: create it with ${advice}`,
  };
}
