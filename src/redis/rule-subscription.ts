import { closeRedis, type OwnClient } from './open-redis.ts';

/** A connection of its own that hears of changes. */
export class RuleSubscription {
  readonly #client: OwnClient;
  readonly #onEnd: () => void;
  #isListening = false;
  #hasFailed = false;

  /**
   * @param onChange is called when something changed, and whenever the connection is there (again): something may have
   *   been missed
   * @param onFailed is told why it cannot listen, once in a row
   */
  constructor(client: OwnClient, channel: string, onChange: () => void, onFailed: (error: unknown) => void) {
    this.#client = client;
    this.#onEnd = () => (this.#isListening = false);
    const listen = async (): Promise<void> => {
      try {
        await client.subscribe(channel);
        this.#isListening = true;
        this.#hasFailed = false;
        onChange();
      } catch (error) {
        // A connection that is gone comes back, and listens then.
        if (client.status === 'ready' && !this.#hasFailed) onFailed(error);
        this.#hasFailed = true;
      }
    };
    client.on('ready', () => void listen());
    client.on('close', this.#onEnd);
    client.on('error', () => undefined);
    client.on('message', onChange);
    if (client.status === 'wait') client.connect().catch(() => undefined);
    else if (client.status === 'ready') void listen();
  }

  /** Whether it hears of changes, as far as it knows. */
  get isListening(): boolean {
    return this.#isListening;
  }

  close(): Promise<void> {
    return closeRedis(this.#client);
  }
}
