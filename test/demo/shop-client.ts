import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ShopRequest {
  readonly path: string;
  /** Whom the request comes from, as a proxy would say it. */
  readonly address: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** An answer and its dates, by `performance.now`. */
export interface DatedAnswer {
  /** Absent when none came. */
  readonly status?: number;
  /** The body, or why there is none. */
  readonly body: string;
  readonly sentAt: number;
  readonly answeredAt: number;
}

const PATIENCE_MS = 5_000;

/** Sends requests to the processes of the shop in turn. */
export class ShopClient {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #ports: readonly number[];
  #sent = 0;

  constructor(ports: readonly number[]) {
    this.#ports = ports;
  }

  async send(shopRequest: ShopRequest): Promise<DatedAnswer> {
    const sentAt = performance.now();
    try {
      const response = await this.#responseTo(shopRequest);
      const answeredAt = performance.now();
      return { status: response.statusCode!, body: await text(response), sentAt, answeredAt };
    } catch (error) {
      return { body: (error as Error).message, sentAt, answeredAt: performance.now() };
    }
  }

  async #responseTo({ path, address, token, body }: ShopRequest): Promise<IncomingMessage> {
    const sending = request({
      method: 'POST',
      host: '127.0.0.1',
      port: this.#ports[this.#sent++ % this.#ports.length]!,
      path,
      headers: {
        'x-forwarded-for': address,
        ...(token !== undefined && { authorization: token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      agent: this.#agent,
      timeout: PATIENCE_MS,
    });
    sending.once('timeout', () => sending.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
    sending.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    return response;
  }

  close(): void {
    this.#agent.destroy();
  }
}
