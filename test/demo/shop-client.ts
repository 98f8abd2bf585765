import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { clockMs } from './clock.ts';

export interface ShopRequest {
  readonly path: string;
  /** Whom the request comes from, as a proxy would say it. */
  readonly address: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** An answer and its dates, all by {@link clockMs}. */
export interface DatedAnswer {
  /** Absent when none came. */
  readonly status?: number;
  /** The body, or why there is none. */
  readonly body: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** When the request reached the shop, as the shop says. */
  readonly arrivedAt: number;
}

/** The header in which the shop says when a request reached it. */
export const ARRIVED_AT = 'x-demo-arrived-at';

const PATIENCE_MS = 5_000;

/** Sends requests to the processes of the shop in turn. */
export class ShopClient {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #urls: readonly string[];
  #sent = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  async send(shopRequest: ShopRequest): Promise<DatedAnswer> {
    const sentAt = clockMs();
    try {
      const response = await this.#responseTo(shopRequest);
      const answeredAt = clockMs();
      const arrivedAt = Number(response.headers[ARRIVED_AT]);
      return { status: response.statusCode!, body: await text(response), sentAt, answeredAt, arrivedAt };
    } catch (error) {
      return { body: (error as Error).message, sentAt, answeredAt: clockMs(), arrivedAt: sentAt };
    }
  }

  async #responseTo({ path, address, token, body }: ShopRequest): Promise<IncomingMessage> {
    const headers = {
      'x-forwarded-for': address,
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: token }),
    };
    const url = this.#urls[this.#sent++ % this.#urls.length]! + path;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const sending = request(url, { method: 'POST', agent: this.#agent, headers, signal });
    sending.end(JSON.stringify(body ?? {}));
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    return response;
  }

  close(): void {
    this.#agent.destroy();
  }
}
