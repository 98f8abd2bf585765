import { callIds } from '../core/call-id.ts';
import { assertCallId, assertCharges, logName, mergeCharges, type Charge } from '../core/charge.ts';
import { budgetsOf, denialOf, type Decision, type Preview } from '../core/decision.ts';
import { RateLimitRequestError, StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { show } from '../core/show.ts';
import { CallBatcher } from './call-batcher.ts';
import { slotOf, tagOfSlot } from './hash-slot.ts';
import { LuaScript } from './lua-script.ts';
import { isClusterClient, prefixOfClient, type RedisClient } from './redis-client.ts';
import { redisFailure } from './redis-failure.ts';
import { argumentsOf, encodeCall, parsePeek, parseReply, stateKeyOf, type Asked } from './script-calls.ts';
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

/** So long is waited for the first decision. */
const PREPARED_WITHIN_MS = 1_000;

/** Decides by scripts: the requests of one turn of the event loop in one call, on a Cluster in one for each hash slot. */
export class ScriptStore implements RateLimitStore {
  readonly #consume = new LuaScript('consume');
  readonly #peek = new LuaScript('peek');
  readonly #refund = new LuaScript('refund');
  readonly #client: RedisClient;
  readonly #options: ScriptStoreOptions;
  readonly #isCluster: boolean;
  readonly #nextId = callIds();
  readonly #onlyBatcher: CallBatcher;
  /** By the hash slot, on a Cluster: there are 16,384. */
  readonly #batchers = new Map<number, CallBatcher>();

  constructor(client: RedisClient, options: ScriptStoreOptions) {
    this.#client = client;
    this.#options = options;
    this.#isCluster = isClusterClient(client);
    const epochKey = `${options.keyPrefix}:epoch`;
    this.#onlyBatcher = new CallBatcher((requests) => this.#decide(requests, epochKey));
  }

  /** Loading is a favour that a user may lack the right to; a decision tells whether he has those that matter. */
  async prepare(): Promise<void> {
    const scripts = [this.#consume, this.#peek, this.#refund];
    await this.#send((client) => Promise.allSettled(scripts.map((script) => script.load(client))));
    const charge = { key: '{floodgate}:start', limit: 1_000, windowMs: 1_000, cost: 1 };
    const charges = (['exact', 'compact'] as const).map((layout) => ({
      ...charge,
      key: `${charge.key}:${layout}`,
      layout,
    }));
    const request = { id: this.#nextId(), charges, withinMs: PREPARED_WITHIN_MS };
    const decision = await this.consume(request);
    await this.refund({ ...request, receipt: decision.allowed ? decision.receipt : undefined });
    await this.#unlink(charges.flatMap((each) => [this.#keyOf(each), this.#markerOf(each, request.id)]));
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    try {
      assertCallId(request.id);
      assertCharges(request.charges);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    return this.#batcherOf(request.charges[0]!).decide(request);
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    assertCharges(charges);
    const logs = mergeCharges(charges);
    const states = this.#stateKeysOf(logs.merged);
    const readings = parsePeek(await this.#run(this.#peek, logs.merged, [], states), charges, logs);
    return denialOf(charges, readings) ?? { allowed: true, budgets: budgetsOf(charges, readings) };
  }

  /** Without a receipt, only exact logs know what to give back. */
  async refund({ id, charges, receipt = '' }: RefundRequest): Promise<void> {
    assertCallId(id);
    assertCharges(charges);
    if (!/^\d*$/.test(receipt))
      throw new RateLimitRequestError(`receipt must be that of the decision, got ${show(receipt)}`);
    if (receipt === '') this.#batcherOf(charges[0]!).withdraw(id);
    const { merged } = mergeCharges(charges);
    const markers = merged.map((charge) => this.#markerOf(charge, id));
    await this.#run(this.#refund, merged, [id, receipt], markers);
  }

  async reset(charges: readonly Charge[]): Promise<void> {
    assertCharges(charges);
    await this.#unlink([...charges.map((charge) => this.#keyOf(charge)), ...this.#stateKeysOf(charges)]);
  }

  #keyOf(charge: Charge): string {
    return `${this.#options.keyPrefix}:${logName(charge)}`;
  }

  #stateKeysOf(charges: readonly Charge[]): readonly string[] {
    return charges.filter(({ warmUp }) => warmUp).map((charge) => stateKeyOf(this.#keyOf(charge)));
  }

  /** Says that the call was given back. Names of logs end in a digit, so that no marker is ever taken for one. */
  #markerOf(charge: Charge, id: string): string {
    return `${this.#keyOf(charge)}:${id}~`;
  }

  /** One by one, since the keys may lie in different hash slots. */
  async #unlink(keys: readonly string[]): Promise<void> {
    await this.#send((client) => Promise.all(keys.map((key) => client.unlink(key))));
  }

  /** All keys of a call lie in one hash slot. */
  #batcherOf(charge: Charge): CallBatcher {
    if (!this.#isCluster) return this.#onlyBatcher;
    const slot = slotOf(prefixOfClient(this.#client) + this.#keyOf(charge));
    let batcher = this.#batchers.get(slot);
    if (!batcher) {
      const epochKey = `${this.#options.keyPrefix}:{${tagOfSlot(slot)}}:epoch`;
      batcher = new CallBatcher((requests) => this.#decide(requests, epochKey));
      this.#batchers.set(slot, batcher);
    }
    return batcher;
  }

  async #decide(requests: readonly Asked[], epochKey: string): Promise<readonly (Decision | Error)[]> {
    const { keys, args } = encodeCall(requests, (charge) => this.#keyOf(charge));
    keys.push(epochKey);
    const sentAt = performance.now();
    const reply = await this.#send((client) => this.#consume.run(client, keys, [this.#moment(), ...args]));
    const decisions = parseReply(reply, requests, ({ decidedAt, began }) =>
      this.#options.watch?.decided({ epochKey, began, decidedAt, sentAt }),
    );
    return decisions.map((decision) =>
      typeof decision === 'string' ? redisFailure(new ReplyError(decision)) : decision,
    );
  }

  async #run(
    script: LuaScript,
    charges: readonly Charge[],
    head: readonly string[],
    others: readonly string[],
  ): Promise<unknown> {
    const keys = [...charges.map((charge) => this.#keyOf(charge)), ...others];
    const args = charges.flatMap(argumentsOf);
    return this.#send((client) => script.run(client, keys, [this.#moment(), ...head, ...args]));
  }

  /** As the scripts take it: microseconds, or that of the server. */
  #moment(): number | string {
    return this.#options.now ? Math.round(this.#options.now() * 1_000) : '';
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

/** An error that a script answers instead of one that the client throws. */
class ReplyError extends Error {
  override readonly name = 'ReplyError';
}
