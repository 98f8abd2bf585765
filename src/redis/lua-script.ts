import { createHash } from 'node:crypto';
import { LUA_SOURCES } from './lua-sources.ts';
import { isClusterClient, type RedisClient } from './redis-client.ts';

/** A script of the `lua` folder: loaded once, called by its hash. */
export class LuaScript {
  readonly source: string;
  readonly sha1: string;

  constructor(readonly name: keyof typeof LUA_SOURCES) {
    this.source = LUA_SOURCES[name];
    this.sha1 = createHash('sha1').update(this.source).digest('hex');
  }

  /** Saves the first calls a round trip; {@link run} does not depend on it. */
  async load(client: RedisClient): Promise<void> {
    const servers = isClusterClient(client) ? client.nodes('master') : [client];
    await Promise.all(servers.map((server) => server.script('LOAD', this.source)));
  }

  /** Calls by hash; sends the source when, and only when, the server says that it does not know the script. */
  async run(client: RedisClient, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await client.evalsha(this.sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(this.source, keys.length, ...keys, ...args);
    }
  }
}
