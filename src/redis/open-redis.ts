import { RateLimitConfigurationError, StoreUnavailableError } from '../core/errors.ts';
import { show } from '../core/show.ts';
import type { RedisClient } from './redis-client.ts';
import { redisFailure } from './redis-failure.ts';

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
  /** Milliseconds. @default 2000 */
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
}

/** A connection of our own: what `new Redis()` gives, as far as we use it. */
interface OwnClient extends RedisClient {
  quit(): Promise<unknown>;
  disconnect(): void;
}

type RedisConstructor = new (...args: [object] | [string, object]) => OwnClient;

const RECONNECT_MS = 50;
const SLOWEST_RECONNECT_MS = 1_000;
const FAREWELL_MS = 500;

/** The settings that answering in time depends on; they win over the application's. */
const FOR_THIS_JOB = {
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

const DEFAULTS = { connectTimeout: 2_000, keepAlive: 10_000, connectionName: 'nestjs-floodgate' } as const;

const URL_LIKE = "must be a URL like 'redis://localhost:6379'";

/**
 * What is wrong with a URL or with options ("must be …"), if anything can be known before connecting. URLs are not
 * shown: they may hold a password.
 */
export function redisTargetFault(target: unknown): string | undefined {
  if (typeof target === 'string') {
    if (!/^rediss?:\/\//.test(target) || !URL.canParse(target))
      return `${URL_LIKE} (its value is not shown: it may hold a password)`;
    const settled = [...new URL(target).searchParams.keys()].find((name) => name in FOR_THIS_JOB);
    return settled && `must not set ${settled}, which answering in time depends on`;
  }
  const prototype: unknown = typeof target === 'object' && target !== null ? Object.getPrototypeOf(target) : undefined;
  if (prototype !== Object.prototype && prototype !== null) {
    return `${URL_LIKE}, options of ioredis, or a client of ioredis, not ${Array.isArray(target) ? 'a list' : typeof target}`;
  }
  const { host, port, path, url } = target as RedisConnectionOptions & { url?: unknown };
  if (url !== undefined) return 'must be the URL itself: options of ioredis have no url';
  if (host !== undefined && typeof host !== 'string') return `must have a text as host, not ${show(host)}`;
  if (path !== undefined && typeof path !== 'string') return `must have a text as path, not ${show(path)}`;
  const isPort = Number.isInteger(Number(port)) && Number(port) > 0 && Number(port) < 65_536;
  return port === undefined || isPort ? undefined : `must have a port from 1 to 65535, not ${show(port)}`;
}

/** Opens nothing yet: {@link becomeReady} connects. */
export async function openRedis(target: string | RedisConnectionOptions): Promise<OwnClient> {
  const Redis = await loadIoredis();
  try {
    const client =
      typeof target === 'string'
        ? new Redis(target, { ...DEFAULTS, ...FOR_THIS_JOB })
        : new Redis({ ...DEFAULTS, ...target, ...FOR_THIS_JOB });
    // Failures reach the callers of commands; without a listener ioredis would print each of them besides.
    client.on('error', () => undefined);
    return client;
  } catch (cause) {
    throw new RateLimitConfigurationError([`option redis: ioredis does not take it: ${String(cause)}`]);
  }
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

/** Ends a connection of our own, after the commands that are under way. */
export async function closeRedis(client: OwnClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const farewell = new Promise<void>((resolve) => (timer = setTimeout(resolve, FAREWELL_MS)));
  const quit = client.status === 'ready' ? client.quit().catch(() => undefined) : undefined;
  await Promise.race([quit, farewell]);
  clearTimeout(timer);
  client.disconnect();
}

/**
 * Waits until commands can be sent, at most so long. A client that the application made lazy is told to connect: we
 * never send to one that is not ready, so nothing else would.
 *
 * @returns what is in the way, if anything is; at once when it is a password, which waiting does not mend
 */
export function becomeReady(client: RedisClient, patienceMs: number): Promise<StoreUnavailableError | undefined> {
  if (client.status === 'ready') return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let failure = new StoreUnavailableError(
      'connection',
      `Redis is not ready after ${patienceMs} ms: does it speak TLS, and is it told so (rediss://, or the option tls)?`,
    );
    const settle = (result: StoreUnavailableError | undefined): void => {
      clearTimeout(timer);
      client.removeListener('ready', onReady);
      client.removeListener('error', onError);
      resolve(result);
    };
    const onReady = (): void => settle(undefined);
    const onError = (error: unknown): void => {
      const known = redisFailure(error);
      if (known instanceof StoreUnavailableError) failure = known;
      if (failure.kind === 'no-permission') settle(failure);
    };
    const timer = setTimeout(() => settle(failure), patienceMs);
    client.on('ready', onReady);
    client.on('error', onError);
    // The error events tell what goes wrong; the promise only repeats the first.
    if (client.status === 'wait') client.connect().catch(() => undefined);
  });
}
