import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AnswerReader } from './answer-reader.ts';

/** A connection that is kept alive. */
export class Connection {
  readonly #socket: Socket;
  #settle: { resolve(status: number): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new AnswerReader();
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      try {
        const status = reader.read(chunk);
        if (status !== undefined) this.#settle?.resolve(status);
      } catch (error) {
        this.#settle?.reject(error as Error);
      }
    });
    socket.on('error', (error) => this.#settle?.reject(error));
    socket.on('close', () => this.#settle?.reject(new Error('the application closed a connection')));
  }

  static async open(url: URL): Promise<Connection> {
    const socket = connect(Number(url.port), url.hostname);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Resolves with the status of the answer, when that is whole. */
  send(request: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }
}

export const getRequest = (url: URL, headers: Readonly<Record<string, string>> = {}): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n${lines.join('')}\r\n`;
};
