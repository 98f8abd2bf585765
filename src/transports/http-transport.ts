import type { ExecutionContext } from '@nestjs/common';
import type { HeaderFields } from './rate-limit-headers.ts';
import type { Transport } from './transport.ts';

/** What every HTTP adapter of Nest has. */
export interface HttpAdapter {
  setHeader(response: unknown, name: string, value: string): unknown;
  getHeader?(response: unknown, name: string): unknown;
  isHeadersSent(response: unknown): boolean;
  getHttpServer(): unknown;
}

interface EventSource {
  on(event: string, listener: (socket: { readonly remoteAddress?: string }) => void): unknown;
}

interface HttpRequest {
  readonly ip?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The addresses of forwarding headers that the adapter took. Fastify puts that of the connection before them. */
  readonly ips?: unknown;
  /** On Express. */
  readonly app?: unknown;
}

/** Node's own, of HTTP 1 and 2. */
interface NodeResponse {
  readonly statusCode: number;
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  once(event: 'finish' | 'close', listener: () => void): unknown;
}

/** Those of Express and Fastify have it; adapters of Nest do not. */
interface AnswerWithHeaders {
  removeHeader?(name: string): unknown;
}

const isForwarded = ({ headers = {} }: HttpRequest): boolean =>
  headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;

/** By what the adapter makes of them: settings can be there and trust nobody, as numbers of hops on Fastify do. */
const trustsForwarding = ({ app, ips }: HttpRequest): boolean =>
  Array.isArray(ips) && ips.length > (app === undefined ? 1 : 0);

/** HTTP through whatever adapter the application runs on. */
export class HttpTransport implements Transport {
  // A function, since an application may be given its adapter after its modules are built.
  readonly #adapter: () => HttpAdapter | undefined;
  #onUntrustedProxy: (() => void) | undefined;

  /**
   * @param adapter none in an application without HTTP
   * @param onUntrustedProxy told once, when a forwarding header arrives of which the adapter takes nothing, unless it
   *   took something of one before
   */
  constructor(adapter: () => HttpAdapter | undefined, onUntrustedProxy: () => void = () => undefined) {
    this.#adapter = adapter;
    this.#onUntrustedProxy = onUntrustedProxy;
  }

  /**
   * A socket knows its peer's address only while it is connected, unless it was asked before: a client that resets its
   * connection right after the request would otherwise have none when the rules are decided.
   */
  start(): void {
    const server = this.#adapter()?.getHttpServer() as Partial<EventSource> | undefined;
    const remember = (socket: { readonly remoteAddress?: string }): void => void socket.remoteAddress;
    for (const event of ['connection', 'secureConnection']) server?.on?.(event, remember);
  }

  carries(context: ExecutionContext): boolean {
    return context.getType() === 'http';
  }

  /** The adapter's own reading of the request, so its `trust proxy` decides; forwarding headers are never read here. */
  addressOf(context: ExecutionContext): string | undefined {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    if (this.#onUntrustedProxy && isForwarded(request)) {
      if (!trustsForwarding(request)) this.#onUntrustedProxy();
      this.#onUntrustedProxy = undefined;
    }
    const { ip } = request;
    return typeof ip === 'string' && ip !== '' ? ip : undefined;
  }

  userOf(context: ExecutionContext): unknown {
    return context.switchToHttp().getRequest<{ user?: unknown }>().user;
  }

  forbidCaching(context: ExecutionContext): void {
    const isSaid = this.#adapter()?.getHeader?.(context.switchToHttp().getResponse(), 'Cache-Control') !== undefined;
    if (!isSaid) this.publish(context, { 'Cache-Control': 'no-store' });
  }

  followAnswer(context: ExecutionContext, answered: (status: number | undefined) => void): void {
    const response = context.switchToHttp().getResponse<NodeResponse & { readonly raw?: NodeResponse }>();
    // On Fastify the reply is not the response itself.
    const answer = response.raw ?? response;
    if (answer.writableFinished) return answered(answer.statusCode);
    if (answer.destroyed) return answered(undefined);
    answer.once('finish', () => answered(answer.statusCode));
    answer.once('close', () => answered(undefined));
  }

  publish(context: ExecutionContext, fields: HeaderFields): void {
    const adapter = this.#adapter();
    const response: unknown = context.switchToHttp().getResponse();
    if (!adapter || adapter.isHeadersSent(response)) return;
    for (const name in fields) adapter.setHeader(response, name, fields[name]!);
  }

  withdraw(context: ExecutionContext, names: readonly string[]): void {
    const response = context.switchToHttp().getResponse<AnswerWithHeaders>();
    if (!this.#adapter() || this.#adapter()!.isHeadersSent(response)) return;
    for (const name of names) response.removeHeader?.(name);
  }
}
