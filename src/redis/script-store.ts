import { assertCallId, assertCharges, logName, mergeCharges, type Charge } from '../core/charge.ts';
import { budgetsOf, denialOf, readingsOfCharges, type Decision, type Preview, type Reading } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { LuaScript } from './lua-script.ts';
import { slotOf, tagOfSlot } from './hash-slot.ts';
import { isClusterClient, prefixOfClient, type RedisClient } from './redis-client.ts';
import { redisFailure } from './redis-failure.ts';
import type { ServerWatch } from './server-watch.ts';

/** Options of {@link RedisStore}. */
export interface ScriptStoreOptions {
  /** First part of every key. */
  readonly keyPrefix: string;
  /** Told of every decision. @internal */
  readonly watch?: ServerWatch;
  /** For tests: milliseconds that date decisions instead of the server's clock. Keys then live a minute longer. */
  readonly now?: () => number;
}

interface Reply {
  readonly allowed: boolean;
  /** Microseconds, the moment of the decision. */
  readonly now: number;
  readonly readings: readonly Reading[];
  /** What follows the readings. */
  readonly others: readonly number[];
}

/** One script call for all charges of a request, whose keys lie in one hash slot. */
export class ScriptStore implements RateLimitStore {
  readonly #consume = new LuaScript('consume');
  readonly #peek = new LuaScript('peek');
  readonly #refund = new LuaScript('refund');
  readonly #client: RedisClient;
  readonly #options: ScriptStoreOptions;
  readonly #isCluster: boolean;
  readonly #onlyEpochKey: string;

  constructor(client: RedisClient, options: ScriptStoreOptions) {
    this.#client = client;
    this.#options = options;
    this.#isCluster = isClusterClient(client);
    this.#onlyEpochKey = `${options.keyPrefix}:epoch`;
  }

  /** Loading is a favour that a user may lack the right to; the call tells whether he has those that matter. */
  async prepare(): Promise<void> {
    const scripts = [this.#consume, this.#peek, this.#refund];
    await this.#send((client) => Promise.allSettled(scripts.map((script) => script.load(client))));
    await this.peek([{ key: '{floodgate}:start', limit: 1, windowMs: 1, cost: 1 }]);
  }

  async consume({ id, charges }: ConsumeRequest): Promise<Decision> {
    assertCallId(id);
    assertCharges(charges);
    const epochKey = this.#epochKey(charges[0]!);
    const sentAt = performance.now();
    const { allowed, now, readings, others } = await this.#decide(this.#consume, charges, [id], epochKey);
    const memoryAgeMs = this.#options.watch?.decided({ epochKey, began: others[0]!, decidedAt: now, sentAt });
    if (!allowed) return denialOf(charges, readings)!;
    const decision = { allowed, id, budgets: budgetsOf(charges, readings), receipt: String(now) } as const;
    return memoryAgeMs === undefined ? decision : { ...decision, memoryAgeMs };
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    assertCharges(charges);
    const { readings } = await this.#decide(this.#peek, charges, []);
    return denialOf(charges, readings) ?? { allowed: true, budgets: budgetsOf(charges, readings) };
  }

  async refund({ id, charges }: RefundRequest): Promise<void> {
    assertCallId(id);
    assertCharges(charges);
    await this.#run(this.#refund, mergeCharges(charges).merged, [id]);
  }

  async reset(charges: readonly Charge[]): Promise<void> {
    assertCharges(charges);
    await this.#send((client) => Promise.all(charges.map((charge) => client.unlink(this.#keyOf(charge)))));
  }

  #keyOf(charge: Charge): string {
    return `${this.#options.keyPrefix}:${logName(charge)}`;
  }

  /** On Redis Cluster, in the slot of this charge. */
  #epochKey(charge: Charge): string {
    if (!this.#isCluster) return this.#onlyEpochKey;
    const slot = slotOf(prefixOfClient(this.#client) + this.#keyOf(charge));
    return `${this.#options.keyPrefix}:{${tagOfSlot(slot)}}:epoch`;
  }

  async #decide(
    script: LuaScript,
    charges: readonly Charge[],
    head: readonly string[],
    ...otherKeys: readonly string[]
  ): Promise<Reply> {
    const logs = mergeCharges(charges);
    const reply = await this.#run(script, logs.merged, head, otherKeys);
    const { readings, ...decided } = parseReply(reply, logs.merged.length, otherKeys.length);
    return { ...decided, readings: readingsOfCharges(charges, logs, readings) };
  }

  async #run(
    script: LuaScript,
    charges: readonly Charge[],
    head: readonly string[],
    otherKeys: readonly string[] = [],
  ): Promise<unknown> {
    const now = this.#options.now ? Math.round(this.#options.now() * 1_000) : '';
    const keys = [...charges.map((charge) => this.#keyOf(charge)), ...otherKeys];
    const args = charges.flatMap(({ limit, windowMs, cost }) => [limit, windowMs, cost]);
    return this.#send((client) => script.run(client, keys, [now, ...head, ...args]));
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

/**
 * The reply of consume.lua and peek.lua, as their heads describe it, for so many logs, with so many numbers behind
 * them. Clients can be set to give numbers as strings. Anything else is no decision, and never taken for one.
 */
function parseReply(reply: unknown, logs: number, more: number): Reply {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  const [verdict, now] = numbers;
  const isComplete = numbers.length === 2 + 3 * logs + more && numbers.every(Number.isFinite);
  if (!isComplete || (verdict !== 0 && verdict !== 1)) {
    throw new StoreUnavailableError('unknown', 'Redis: the reply of the script is no decision');
  }
  const readings = Array.from({ length: logs }, (_, i) => {
    const [remaining, resetAfterMs, retryAfterMs] = numbers.slice(2 + 3 * i) as [number, number, number];
    if (retryAfterMs === 0) return { remaining, resetAfterMs };
    return { remaining, resetAfterMs, refusal: retryAfterMs < 0 ? {} : { retryAfterMs } };
  });
  return { allowed: verdict === 1, now: now!, readings, others: numbers.slice(2 + 3 * logs) };
}
