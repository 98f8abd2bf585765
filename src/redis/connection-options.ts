import { show } from '../core/show.ts';

/** A node of a Redis Cluster. */
export interface ClusterNode {
  /** A name or an address. @default localhost */
  readonly host?: string;
  /** @default 6379 */
  readonly port?: number;
}

/** Options of an ioredis connection, as `new Redis(options)` takes them: these, and the others of ioredis. */
export interface RedisConnectionOptions {
  /** A name or an address. @default localhost */
  readonly host?: string | undefined;
  /** @default 6379 */
  readonly port?: number | undefined;
  /** Of a Unix socket, in place of host and port. */
  readonly path?: string | undefined;
  /** 4 or 6, for names that have addresses of both. */
  readonly family?: number | undefined;
  /** Of an ACL user. */
  readonly username?: string | undefined;
  /** Of the user, or of the server. */
  readonly password?: string | undefined;
  /** Number of the database. @default 0 */
  readonly db?: number | undefined;
  /** Options of `tls.connect`: `{}` for the defaults. */
  readonly tls?: object | undefined;
  /** Put before every key by ioredis, before ours. */
  readonly keyPrefix?: string | undefined;
  /** Milliseconds. @default 1000 */
  readonly connectTimeout?: number | undefined;
  /** As `CLIENT LIST` shows it. @default nestjs-floodgate */
  readonly connectionName?: string | undefined;
  /** Addresses of sentinels, in place of host and port. */
  readonly sentinels?: readonly object[] | null | undefined;
  /** What the sentinels call the master. */
  readonly name?: string | undefined;
  /** Of an ACL user of the sentinels. */
  readonly sentinelUsername?: string | undefined;
  /** Of the sentinels. */
  readonly sentinelPassword?: string | undefined;
  /**
   * Some nodes of a Redis Cluster, as URLs or as host and port, in place of a host and port here: the other options
   * hold for the connections to each node.
   */
  readonly cluster?: readonly (string | ClusterNode)[] | undefined;
  /** Where a Cluster in a network of its own is reached from here: addresses by those that its nodes tell. */
  readonly natMap?: object | undefined;
}

const RECONNECT_MS = 50;
const SLOWEST_RECONNECT_MS = 500;

/** The settings that answering in time depends on, and that the application cannot choose. */
export const FIXED_OPTIONS = {
  lazyConnect: true,
  // A command that waits or is sent twice would be charged when nobody asks any more.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // Halves the throughput of scripts.
  enableAutoPipelining: false,
  stringNumbers: false,
  retryStrategy: (attempt: number) =>
    Math.min(SLOWEST_RECONNECT_MS, RECONNECT_MS * 2 ** Math.min(attempt, 5)) * (0.75 + Math.random() / 4),
  // A connection that is left on a demoted server has to find the new one.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} as const;

/** The same of a Cluster. What it keeps for later, or sends again, would be charged when nobody asks any more. */
export const FIXED_CLUSTER_OPTIONS = {
  retryDelayOnClusterDown: 0,
  retryDelayOnFailover: 0,
  retryDelayOnTryAgain: 5,
  maxRedirections: 3,
} as const;

const URL_LIKE = "must be a URL like 'redis://localhost:6379'";

/**
 * What is wrong with a URL or with options ("must be …"), if anything can be known before connecting. URLs are not
 * shown: they may hold a password.
 */
export function redisTargetFault(target: unknown): string | undefined {
  if (typeof target === 'string') {
    if (!/^rediss?:\/\//.test(target) || !URL.canParse(target))
      return `${URL_LIKE} (its value is not shown: it may hold a password)`;
    const settled = [...new URL(target).searchParams.keys()].find((name) => name in FIXED_OPTIONS);
    return settled && `must not set ${settled}, which answering in time depends on`;
  }
  const prototype: unknown = typeof target === 'object' && target !== null ? Object.getPrototypeOf(target) : undefined;
  if (prototype !== Object.prototype && prototype !== null) {
    return `${URL_LIKE}, options of ioredis, or a client of ioredis, not ${Array.isArray(target) ? 'a list' : typeof target}`;
  }
  const { host, port, path, url, cluster } = target as RedisConnectionOptions & { url?: unknown };
  if (cluster !== undefined && !(Array.isArray(cluster) && cluster.length > 0)) {
    return `must have a list of nodes as cluster, not ${show(cluster)}`;
  }
  if (url !== undefined) return 'must be the URL itself: options of ioredis have no url';
  if (host !== undefined && typeof host !== 'string') return `must have a text as host, not ${show(host)}`;
  if (path !== undefined && typeof path !== 'string') return `must have a text as path, not ${show(path)}`;
  const isPort = Number.isInteger(Number(port)) && Number(port) > 0 && Number(port) < 65_536;
  return port === undefined || isPort ? undefined : `must have a port from 1 to 65535, not ${show(port)}`;
}
