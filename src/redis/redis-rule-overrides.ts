import { callIds } from '../core/call-id.ts';
import { within } from '../core/deadline.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import {
  CHANGES_KEPT,
  type ChangeListener,
  type OverrideValues,
  type RuleOverrideStore,
} from '../core/rule-override-store.ts';
import { LuaScript } from './lua-script.ts';
import type { OwnClient } from './open-redis.ts';
import { prefixOfClient, type RedisClient } from './redis-client.ts';
import { redisFailure } from './redis-failure.ts';
import { parseRuleDocument } from './rule-document.ts';
import { RuleSubscription } from './rule-subscription.ts';

/** How often it is looked whether something changed, milliseconds: while changes are told, and while they are not. */
const LOOK_EVERY_MS = { listening: 800, deaf: 250 } as const;
/** The longest that an answer is waited for, milliseconds. */
const READ_PATIENCE_MS = 700;
const CHANGE_PATIENCE_MS = 2_000;

interface RedisRuleOverridesOptions {
  readonly keyPrefix: string;
  /** Opens the connection that hears of changes, if there can be one. */
  readonly openSubscriber: () => Promise<OwnClient | undefined>;
}

/**
 * Overrides in one document in Redis, for all processes: told by publish/subscribe on a connection of its own, and
 * looked for by everybody besides, so that none is missed for longer than a second.
 */
export class RedisRuleOverrides implements RuleOverrideStore {
  readonly spreadMs = 2_000;
  readonly #read = new LuaScript('read-rules');
  readonly #write = new LuaScript('override-rule');
  readonly #client: RedisClient;
  readonly #options: RedisRuleOverridesOptions;
  readonly #key: string;
  readonly #nextId = callIds();
  readonly #onReady = (): void => void this.#look();
  #listener: ChangeListener | undefined;
  #subscription: RuleSubscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tag: string | undefined;
  #isLooking = false;
  #mustLookAgain = false;
  #hasFailed = false;

  /** @param client for reads and changes; not closed here */
  constructor(client: RedisClient, options: RedisRuleOverridesOptions) {
    this.#client = client;
    this.#options = options;
    this.#key = `${options.keyPrefix}:rules`;
  }

  async change(name: string, values: OverrideValues | undefined): Promise<void> {
    const args = [name, values ? JSON.stringify(values) : '', this.#nextId(), CHANGES_KEPT];
    this.#take(await this.#run(this.#write, args, CHANGE_PATIENCE_MS));
  }

  async follow(listener: ChangeListener): Promise<void> {
    this.#listener = listener;
    const channel = `${prefixOfClient(this.#client)}${this.#key}`;
    const client = await this.#options.openSubscriber();
    const onFailed = (error: unknown): void => listener.failed(redisFailure(error));
    if (client) this.#subscription = new RuleSubscription(client, channel, this.#onReady, onFailed);
    this.#client.on('ready', this.#onReady);
    await this.#look();
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#listener = undefined;
    clearTimeout(this.#timer);
    this.#client.removeListener('ready', this.#onReady);
    await this.#subscription?.close();
  }

  #schedule(): void {
    if (!this.#listener) return;
    const everyMs = LOOK_EVERY_MS[this.#subscription?.isListening ? 'listening' : 'deaf'];
    this.#timer = setTimeout(() => void this.#look().finally(() => this.#schedule()), everyMs).unref();
  }

  /** One look at a time, so that they are taken in by their order. */
  async #look(): Promise<void> {
    if (this.#isLooking) {
      this.#mustLookAgain = true;
      return;
    }
    this.#isLooking = true;
    do {
      this.#mustLookAgain = false;
      await this.#lookOnce();
    } while (this.#mustLookAgain);
    this.#isLooking = false;
  }

  async #lookOnce(): Promise<void> {
    // Whoever is limited by this Redis is told that it is away.
    if (this.#client.status !== 'ready') return;
    try {
      this.#take(await this.#run(this.#read, [this.#tag ?? ''], READ_PATIENCE_MS));
      this.#hasFailed = false;
    } catch (error) {
      const isAway =
        error instanceof StoreUnavailableError && (error.kind === 'timeout' || error.kind === 'connection');
      if (!isAway && !this.#hasFailed) this.#listener?.failed(error);
      if (!isAway) this.#hasFailed = true;
    }
  }

  #take(reply: unknown): void {
    const document = parseRuleDocument(reply);
    if (!document || document.tag === this.#tag) return;
    this.#tag = document.tag;
    this.#listener?.changed(document);
  }

  async #run(script: LuaScript, args: readonly (string | number)[], patienceMs: number): Promise<unknown> {
    const { status } = this.#client;
    if (status !== 'ready') throw new StoreUnavailableError('connection', `Redis: the client is not ready (${status})`);
    try {
      return await within(patienceMs, script.run(this.#client, [this.#key], args), noAnswer);
    } catch (error) {
      throw error instanceof StoreUnavailableError ? error : redisFailure(error);
    }
  }
}

const noAnswer = (): StoreUnavailableError =>
  new StoreUnavailableError('timeout', 'Redis does not answer: a change may have been kept all the same');
