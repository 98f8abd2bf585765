import type { ExecutionContext } from '@nestjs/common';
import type { HeaderFields } from './rate-limit-headers.ts';
import type { Transport } from './transport.ts';

/** What every HTTP adapter of Nest has. */
export interface HttpAdapter {
  setHeader(response: unknown, name: string, value: string): unknown;
  isHeadersSent(response: unknown): boolean;
}

/** HTTP through whatever adapter the application runs on. */
export class HttpTransport implements Transport {
  // A function, since an application may be given its adapter after its modules are built.
  readonly #adapter: () => HttpAdapter;

  constructor(adapter: () => HttpAdapter) {
    this.#adapter = adapter;
  }

  carries(context: ExecutionContext): boolean {
    return context.getType() === 'http';
  }

  /** The adapter's own reading of the request, so its `trust proxy` decides; forwarding headers are never read here. */
  addressOf(context: ExecutionContext): string | undefined {
    const { ip } = context.switchToHttp().getRequest<{ ip?: unknown }>();
    return typeof ip === 'string' && ip !== '' ? ip : undefined;
  }

  userOf(context: ExecutionContext): unknown {
    return context.switchToHttp().getRequest<{ user?: unknown }>().user;
  }

  publish(context: ExecutionContext, fields: HeaderFields): void {
    const adapter = this.#adapter();
    const response: unknown = context.switchToHttp().getResponse();
    if (adapter.isHeadersSent(response)) return;
    for (const name in fields) adapter.setHeader(response, name, fields[name]!);
  }
}
