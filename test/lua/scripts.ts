import type { Redis } from 'ioredis';
import { LuaScript } from '../../src/redis/lua-script.ts';

const scripts = {
  consume: new LuaScript('consume'),
  peek: new LuaScript('peek'),
  refund: new LuaScript('refund'),
};

/** One budget as the scripts take it: the key, and limit, window (ms), cost and layout (exact if it is not given). */
export type ScriptCharge = readonly [
  key: string,
  limit: number,
  windowMs: number,
  cost: number,
  layout?: 'exact' | 'compact',
];

/** One request of a call of consume.lua: its id, and its budgets. */
export type ScriptRequest = readonly [id: string, ...charges: readonly ScriptCharge[]];

/** The answer to one request: 1 or 0, and for each budget remaining, resetAfterMs and retryAfterMs; or its error. */
export type ScriptAnswer = readonly number[] | string;

const argumentsOf = ([, limit, windowMs, cost, layout = 'exact']: ScriptCharge) => [limit, windowMs, cost, layout];

/** The scripts, called with a given time in microseconds, or that of the server when it is `''`. */
export const scriptsOn = (client: Redis, epochKey: string) => {
  const run = async (
    name: 'peek' | 'refund',
    head: readonly (string | number)[],
    charges: readonly ScriptCharge[],
    markers: readonly string[] = [],
  ): Promise<number | number[]> =>
    (await scripts[name].run(
      client,
      [...charges.map(([key]) => key), ...markers],
      [...head, ...charges.flatMap(argumentsOf)],
    )) as number | number[];
  /** Many requests in one call. */
  const consumeAll = async (epoch: string, now: number | '', requests: readonly ScriptRequest[]) => {
    const plans = requests.map(([, ...charges]) => charges.flatMap(argumentsOf).join(' '));
    const keys = requests.flatMap(([, ...charges]) => charges.map(([key]) => key));
    const args = [now, plans.length, ...plans, ...requests.flatMap(([id], i) => [id, i + 1])];
    const reply = (await scripts.consume.run(client, [...keys, epoch], args)) as (number | string)[];
    const [decidedAt, began] = reply.splice(-2) as [number, number];
    const answers = requests.map(([, ...charges]): ScriptAnswer => {
      const code = reply.shift()!;
      if (typeof code === 'string') return code;
      const readings = charges.flatMap(([, , windowMs, cost]) => {
        if (code !== 1) return reply.splice(0, 3) as number[];
        return cost === 0 ? [...(reply.splice(0, 2) as number[]), 0] : [Number(reply.shift()), windowMs, 0];
      });
      return [Math.min(code, 1), ...readings];
    });
    return { answers, decidedAt, began };
  };
  const refundOf = (admittedAt: number | '', now: number | '', id: string, ...charges: readonly ScriptCharge[]) =>
    run(
      'refund',
      [now, id, admittedAt],
      charges,
      charges.map(([key]) => `${key}:${id}~`),
    );
  return {
    consumeAll,
    /** One request: its verdict, the moment, and the readings. */
    consume: async (now: number | '', id: string, ...charges: readonly ScriptCharge[]) => {
      const { answers, decidedAt } = await consumeAll(epochKey, now, [[id, ...charges]]);
      const [answer] = answers;
      if (typeof answer === 'string') throw new Error(answer);
      return [answer![0], decidedAt, ...answer!.slice(1)];
    },
    peek: async (now: number | '', ...charges: readonly ScriptCharge[]) => {
      const [verdict, ...readings] = (await run('peek', [now], charges)) as number[];
      return [verdict, now, ...readings];
    },
    refund: (now: number | '', id: string, ...charges: readonly ScriptCharge[]) => refundOf('', now, id, ...charges),
    /** A call that was admitted at this moment. */
    refundOf,
    raw: (name: keyof typeof scripts, keys: readonly string[], args: readonly (string | number)[]) =>
      scripts[name].run(client, keys, args),
  };
};
