/** `+node` and `-node` are events of a Cluster client: a node was added, or lost. */
export type ClientEvent = 'ready' | 'error' | '+node' | '-node';

/**
 * What is asked of a Redis client: a `Redis` or `Cluster` of ioredis 5 or 6 has it. It is recognised by what it can
 * do, so that a client from another copy of ioredis is as good.
 */
export interface RedisClient {
  /** `'ready'` when commands are sent at once; nothing is sent otherwise. */
  readonly status: string;
  /** Calls a script by its hash. */
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  /** Calls a script by its source. */
  eval(script: string, numberOfKeys: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  /** Loads a script. */
  script(subcommand: 'LOAD', script: string): Promise<unknown>;
  /** Removes a key. */
  unlink(key: string): Promise<unknown>;
  /** What the server says about itself; without it nothing is known of the server's settings. */
  info?(): Promise<unknown>;
  /** Connects a client that was made lazy. */
  connect(): Promise<unknown>;
  /** Tells of changes in the connection. */
  on(event: ClientEvent, listener: (error?: unknown) => void): unknown;
  /** Ends what `on` began. */
  removeListener(event: ClientEvent, listener: (error?: unknown) => void): unknown;
}

/** What a Cluster client can do besides. */
export interface RedisClusterClient extends RedisClient {
  /** The clients of the single nodes. */
  nodes(role: 'master'): RedisClient[];
}

const can = (value: unknown, method: string): boolean =>
  typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function';

export const isRedisClient = (value: unknown): value is RedisClient =>
  can(value, 'evalsha') && can(value, 'eval') && typeof (value as RedisClient).status === 'string';

export const isClusterClient = (client: RedisClient): client is RedisClusterClient => can(client, 'nodes');

/** What the client itself puts before every key. */
export const prefixOfClient = (client: RedisClient): string =>
  (client as { options?: { keyPrefix?: string } }).options?.keyPrefix ?? '';
