import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './redis-server.ts';

/**
 * What stands between a client and a server and spoils their connections. A method sets what holds from then on, also
 * for open connections and for data that is still delayed. `cutReplies`, `blackhole` and `refuse` replace each other.
 */
export interface TcpProxy {
  readonly port: number;
  readonly url: string;
  /** The connections of clients that are open. */
  readonly connections: number;
  /** Holds back the data of each direction for so long, in its order; 0 for not at all. */
  delay(ms: number): void;
  /** Requests arrive, and are applied; instead of the answer its client gets its connection closed. */
  cutReplies(): void;
  /** As `cutReplies`, for the next answer alone. */
  dropNextReply(): void;
  /** Keeps and accepts connections, and forwards nothing, not even that a side closed its connection. */
  blackhole(): void;
  /** Closes all connections and listens no more, until `heal`. */
  refuse(): Promise<void>;
  /** Forwards again. What was silent is closed, since part of its data is lost. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

type Mode = 'forwarding' | 'cutting' | 'silent' | 'refusing';

interface Weather {
  mode: Mode;
  delayMs: number;
  dropsNextReply: boolean;
}

/** In front of what listens on this port of the loopback interface. Where nothing does, it closes what it accepted. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const proxy = new LoopbackProxy(await freePort(), targetPort);
  await proxy.heal();
  return proxy;
}

class LoopbackProxy implements TcpProxy {
  readonly #weather: Weather = { mode: 'refusing', delayMs: 0, dropsNextReply: false };
  readonly #links = new Set<Link>();
  readonly #targetPort: number;
  readonly port: number;
  #listener: Server | undefined;

  constructor(port: number, targetPort: number) {
    this.port = port;
    this.#targetPort = targetPort;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return [...this.#links].filter((link) => link.isOpen).length;
  }

  delay(ms: number): void {
    this.#weather.delayMs = ms;
  }

  cutReplies(): void {
    this.#enter('cutting');
  }

  dropNextReply(): void {
    this.#weather.dropsNextReply = true;
  }

  blackhole(): void {
    this.#enter('silent');
  }

  async refuse(): Promise<void> {
    this.#enter('refusing');
    this.#closeLinks();
    const listener = this.#listener;
    this.#listener = undefined;
    if (!listener) return;
    listener.close();
    await once(listener, 'close');
  }

  async heal(): Promise<void> {
    this.#enter('forwarding');
    this.delay(0);
    if (this.#listener) return;
    this.#listener = createServer((client) => this.#accept(client));
    await once(this.#listener.listen(this.port, '127.0.0.1'), 'listening');
  }

  async stop(): Promise<void> {
    await this.refuse();
  }

  #enter(mode: Mode): void {
    if (this.#weather.mode === 'silent' && mode !== 'silent') this.#closeLinks();
    this.#weather.mode = mode;
    this.#weather.dropsNextReply = false;
  }

  #accept(client: Socket): void {
    // One that the listener had accepted by the time of `refuse`.
    if (this.#weather.mode === 'refusing') return void client.destroy();
    const link = new Link(client, this.#targetPort, this.#weather);
    this.#links.add(link);
    link.whenClosed(() => this.#links.delete(link));
  }

  #closeLinks(): void {
    for (const link of this.#links) link.close();
  }
}

/** One connection of a client, and the one to the server that belongs to it. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket | undefined;
  readonly #weather: Weather;
  readonly #toServer = new Lane();
  readonly #toClient = new Lane();

  constructor(client: Socket, targetPort: number, weather: Weather) {
    this.#client = client;
    this.#server = weather.mode === 'silent' ? undefined : connect(targetPort, '127.0.0.1');
    this.#weather = weather;
    for (const socket of [client, this.#server]) socket?.setNoDelay().on('error', () => undefined);
    client.on('data', (request) => this.#send(this.#toServer, () => this.#server?.write(request)));
    client.on('close', () => this.#send(this.#toServer, () => this.#server?.end()));
    this.#server?.on('data', (reply) => this.#send(this.#toClient, () => this.#answer(reply)));
    this.#server?.on('close', () => this.#send(this.#toClient, () => client.destroySoon()));
  }

  get isOpen(): boolean {
    return !this.#client.destroyed;
  }

  whenClosed(then: () => void): void {
    const ifBoth = (): void => {
      if (this.#client.closed && (this.#server?.closed ?? true)) then();
    };
    this.#client.on('close', ifBoth);
    this.#server?.on('close', ifBoth);
  }

  close(): void {
    this.#client.destroy();
    this.#server?.destroy();
  }

  #send(lane: Lane, act: () => void): void {
    lane.add(() => this.#weather.mode !== 'silent' && act(), this.#weather.delayMs);
  }

  #answer(reply: Buffer): void {
    const { mode, dropsNextReply } = this.#weather;
    if (this.#client.destroyed) return;
    if (mode !== 'cutting' && !dropsNextReply) return void this.#client.write(reply);
    this.#weather.dropsNextReply = false;
    // What the client sent besides still reaches the server, before the end of the connection does.
    this.#client.destroy();
  }
}

/** Does one thing after another, each not before its time. What tests send is small: nothing is held back. */
class Lane {
  #last: Promise<unknown> = Promise.resolve();

  add(act: () => unknown, delayMs: number): void {
    const due = performance.now() + delayMs;
    this.#last = this.#last.then(async () => {
      // Timers may be early by a fraction of a millisecond.
      for (let left; (left = due - performance.now()) > 0;) await wait(left, undefined, { ref: false });
      act();
    });
  }
}
