import type { Redis } from 'ioredis';
import { LuaScript } from '../../src/redis/lua-script.ts';

const scripts = {
  consume: new LuaScript('consume'),
  peek: new LuaScript('peek'),
  refund: new LuaScript('refund'),
};

/** One budget as the scripts take it: the key, and limit, window (ms) and cost. */
export type ScriptCharge = readonly [key: string, limit: number, windowMs: number, cost: number];

/** The scripts, called with a given time in microseconds, or that of the server when it is `''`. */
export const scriptsOn = (client: Redis, epochKey: string) => {
  const run = async (
    name: keyof typeof scripts,
    head: readonly (string | number)[],
    charges: readonly ScriptCharge[],
    otherKeys: readonly string[] = [],
  ) =>
    (await scripts[name].run(
      client,
      [...charges.map(([key]) => key), ...otherKeys],
      [...head, ...charges.flatMap(([, ...numbers]) => numbers)],
    )) as number[];
  const consumeWithEpoch = (epoch: string, now: number | '', id: string, ...charges: readonly ScriptCharge[]) =>
    run('consume', [now, id], charges, [epoch]);
  return {
    /** The reply without its epoch. */
    consume: async (now: number | '', id: string, ...charges: readonly ScriptCharge[]) =>
      (await consumeWithEpoch(epochKey, now, id, ...charges)).slice(0, -1),
    consumeWithEpoch,
    peek: (now: number | '', ...charges: readonly ScriptCharge[]) => run('peek', [now], charges),
    refund: (now: number | '', id: string, ...charges: readonly ScriptCharge[]) => run('refund', [now, id], charges),
    raw: (name: keyof typeof scripts, keys: readonly string[], args: readonly (string | number)[]) =>
      scripts[name].run(client, keys, args),
  };
};
