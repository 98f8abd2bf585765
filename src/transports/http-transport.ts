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
  /** Fastify has it when it trusts a proxy, Express always. */
  readonly ips?: unknown;
  /** On Express. */
  readonly app?: { get?(setting: string): unknown };
}

const isForwarded = ({ headers = {} }: HttpRequest): boolean =>
  headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;

const trustsProxies = ({ app, ips }: HttpRequest): boolean =>
  typeof app?.get === 'function' ? Boolean(app.get('trust proxy')) : Array.isArray(ips);

/** HTTP through whatever adapter the application runs on. */
export class HttpTransport implements Transport {
  // A function, since an application may be given its adapter after its modules are built.
  readonly #adapter: () => HttpAdapter | undefined;
  #onUntrustedProxy: (() => void) | undefined;

  /**
   * @param adapter none in an application without HTTP
   * @param onUntrustedProxy told once, when a forwarding header arrives that the adapter is not set to trust
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
    if (this.#onUntrustedProxy && isForwarded(request) && !trustsProxies(request)) {
      this.#onUntrustedProxy();
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

  publish(context: ExecutionContext, fields: HeaderFields): void {
    const adapter = this.#adapter();
    const response: unknown = context.switchToHttp().getResponse();
    if (!adapter || adapter.isHeadersSent(response)) return;
    for (const name in fields) adapter.setHeader(response, name, fields[name]!);
  }
}
