import { RateLimitConfigurationError } from '../core/errors.ts';
import { FIXED_CLUSTER_OPTIONS, FIXED_OPTIONS, type RedisConnectionOptions } from './connection-options.ts';
import type { ClientEvent, RedisClient } from './redis-client.ts';

/** A connection of our own: what `new Redis()` gives, as far as we use it. */
export interface OwnClient extends RedisClient {
  on(event: ClientEvent | 'close' | 'message', listener: (error?: unknown) => void): unknown;
  subscribe(channel: string): Promise<unknown>;
  /** The connection, while there is one; a Cluster has several. */
  readonly stream?: { on(event: 'error', listener: () => void): unknown };
  quit(): Promise<unknown>;
  disconnect(): void;
}

type RedisConstructor = (new (...args: [object] | [string, object]) => OwnClient) & {
  readonly Cluster: new (nodes: readonly unknown[], options: object) => OwnClient;
};

const FAREWELL_MS = 500;

const DEFAULTS = {
  connectTimeout: 1_000,
  // A peer that is silent for so long is taken for dead: only a new connection can tell.
  socketTimeout: 1_000,
  // A server that loads its data is asked so often whether it is done.
  maxLoadingRetryTime: 500,
  // A master that was replaced goes on answering for a while; what it admits then is lost.
  failoverDetector: true,
  keepAlive: 10_000,
  connectionName: 'nestjs-floodgate',
} as const;

/** Opens nothing yet: {@link becomeReady} connects. */
export async function openRedis(target: string | RedisConnectionOptions): Promise<OwnClient> {
  const Redis = await loadIoredis();
  try {
    const client = newClient(Redis, target);
    // Failures reach the callers of commands; without a listener ioredis would print each of them besides. It listens to
    // one error of each connection only, and one over TLS may have a second, which would end the process.
    client.on('error', () => void client.stream?.on('error', () => undefined));
    return client;
  } catch (cause) {
    throw new RateLimitConfigurationError([`option redis: ioredis does not take it: ${String(cause)}`]);
  }
}

function newClient(Redis: RedisConstructor, target: string | RedisConnectionOptions): OwnClient {
  if (typeof target === 'string') return new Redis(target, { ...DEFAULTS, ...FIXED_OPTIONS });
  const { cluster, keyPrefix, natMap, ...ofNode } = target;
  if (!cluster) return new Redis({ ...DEFAULTS, ...target, ...FIXED_OPTIONS });
  const { lazyConnect, enableOfflineQueue, enableAutoPipelining, retryStrategy } = FIXED_OPTIONS;
  return new Redis.Cluster(cluster, {
    ...FIXED_CLUSTER_OPTIONS,
    lazyConnect,
    enableOfflineQueue,
    enableAutoPipelining,
    clusterRetryStrategy: retryStrategy,
    ...(keyPrefix !== undefined && { keyPrefix }),
    ...(natMap !== undefined && { natMap }),
    redisOptions: { ...DEFAULTS, ...ofNode, ...FIXED_OPTIONS },
  });
}

async function loadIoredis(): Promise<RedisConstructor> {
  try {
    return (await import('ioredis')).Redis as unknown as RedisConstructor;
  } catch (cause) {
    throw new RateLimitConfigurationError([
      `option redis needs the package ioredis (5.4 or newer), which cannot be loaded: ${String(cause)}`,
    ]);
  }
}

/** A connection of our own to where this client of the application is connected, if it can tell. */
export const duplicateOf = (client: RedisClient): OwnClient | undefined =>
  (client as { duplicate?: () => OwnClient }).duplicate?.();

/** Ends a connection of our own, after the commands that are under way. */
export async function closeRedis(client: OwnClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const farewell = new Promise<void>((resolve) => (timer = setTimeout(resolve, FAREWELL_MS)));
  const quit = client.status === 'ready' ? client.quit().catch(() => undefined) : undefined;
  await Promise.race([quit, farewell]);
  clearTimeout(timer);
  client.disconnect();
}
