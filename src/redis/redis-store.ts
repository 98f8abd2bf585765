import { assertCallId, assertCharges, logName, mergeCharges, type Charge } from '../core/charge.ts';
import { budgetsOf, denialOf, type Decision, type Preview, type Reading } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { LuaScript } from './lua-script.ts';
import type { RedisClient } from './redis-client.ts';
import { redisFailure } from './redis-failure.ts';

const consume = new LuaScript('consume');
const peek = new LuaScript('peek');
const refund = new LuaScript('refund');

export interface RedisStoreOptions {
  /** First part of every key. */
  readonly keyPrefix: string;
  /** For tests: milliseconds that date decisions instead of the server's clock. Keys then live a minute longer. */
  readonly now?: () => number;
  /** Ends the client, where it is ours to end. */
  readonly close?: () => Promise<void>;
}

/** One script call for all charges, on the clock of the Redis server. All keys of a request lie in one hash slot. */
export class RedisStore implements RateLimitStore {
  readonly #client: RedisClient;
  readonly #options: RedisStoreOptions;

  constructor(client: RedisClient, options: RedisStoreOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Loads the scripts and calls one, to know that this user may. Loading is a favour: a user may lack the right to. */
  async prepare(): Promise<void> {
    await this.#send((client) => Promise.allSettled([consume, peek, refund].map((script) => script.load(client))));
    await this.peek([{ key: '{floodgate}:start', limit: 1, windowMs: 1, cost: 1 }]);
  }

  async consume({ id, charges }: ConsumeRequest): Promise<Decision> {
    assertCallId(id);
    assertCharges(charges);
    const { merged, places } = mergeCharges(charges);
    const [verdict, now, ...numbers] = await this.#run(consume, merged, [id]);
    const readings = readingsIn(numbers, places);
    if (verdict === 0) return denialOf(charges, readings)!;
    return { allowed: true, id, budgets: budgetsOf(charges, readings), receipt: String(now) };
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    assertCharges(charges);
    const { merged, places } = mergeCharges(charges);
    const [, , ...numbers] = await this.#run(peek, merged, []);
    const readings = readingsIn(numbers, places);
    return denialOf(charges, readings) ?? { allowed: true, budgets: budgetsOf(charges, readings) };
  }

  async refund({ id, charges }: RefundRequest): Promise<void> {
    assertCallId(id);
    assertCharges(charges);
    await this.#run(refund, mergeCharges(charges).merged, [id]);
  }

  async reset(charges: readonly Charge[]): Promise<void> {
    assertCharges(charges);
    await this.#send((client) => Promise.all(charges.map((charge) => client.unlink(this.#keyOf(charge)))));
  }

  async close(): Promise<void> {
    await this.#options.close?.();
  }

  #keyOf(charge: Charge): string {
    return `${this.#options.keyPrefix}:${logName(charge)}`;
  }

  async #run(script: LuaScript, charges: readonly Charge[], head: readonly string[]): Promise<readonly number[]> {
    const now = this.#options.now ? Math.round(this.#options.now() * 1_000) : '';
    const keys = charges.map((charge) => this.#keyOf(charge));
    const args = charges.flatMap(({ limit, windowMs, cost }) => [limit, windowMs, cost]);
    const reply = await this.#send((client) => script.run(client, keys, [now, ...head, ...args]));
    return Array.isArray(reply) ? (reply as number[]) : [];
  }

  /** Commands given to a client that is not ready would wait, and be applied when nobody asks any more. */
  async #send<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    const { status } = this.#client;
    if (status !== 'ready') throw new StoreUnavailableError('connection', `Redis: the client is not ready (${status})`);
    try {
      return await command(this.#client);
    } catch (error) {
      throw redisFailure(error);
    }
  }
}

/** Three numbers for each log, as consume.lua describes them, spread over the charges that were merged into it. */
function readingsIn(numbers: readonly number[], places: readonly number[]): readonly Reading[] {
  return places.map((place) => {
    const [remaining, resetAfterMs, retryAfterMs] = numbers.slice(3 * place, 3 * place + 3) as [number, number, number];
    if (retryAfterMs === 0) return { remaining, resetAfterMs };
    return { remaining, resetAfterMs, refusal: retryAfterMs < 0 ? {} : { retryAfterMs } };
  });
}
