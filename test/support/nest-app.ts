import 'reflect-metadata';
import type { INestApplication, LoggerService, Type, DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

/** An application that listens on loopback. */
export interface TestApp {
  readonly app: INestApplication;
  readonly url: string;
  /** Sends a request and reads the answer whole. */
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

export interface CallOptions {
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

export type TrustProxy = boolean | number | string | string[] | ((address: string, hop: number) => boolean);

export interface StartOptions {
  readonly logger?: LoggerService | false;
  /** What is done between creating the application and listening. */
  readonly configure?: (app: INestApplication) => void;
  /** Which proxies the adapter takes the client's address from, as the application would tell it. */
  readonly trustProxy?: TrustProxy;
}

export async function startApp(
  module: Type | DynamicModule,
  platform: Platform,
  { logger = false, configure, trustProxy = false }: StartOptions = {},
): Promise<TestApp> {
  const adapter = platform === 'express' ? new ExpressAdapter() : fastifyAdapter(trustProxy);
  const app = await NestFactory.create<INestApplication>(module as Type, adapter, { logger, abortOnError: false });
  if (platform === 'express' && trustProxy)
    (app.getHttpAdapter().getInstance() as { set(...args: unknown[]): void }).set('trust proxy', trustProxy);
  configure?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    app,
    url,
    call: (method, path, options) => call(`${url}${path}`, method, options),
    close: () => app.close(),
  };
}

/** Fastify takes a number of hops, though its types do not have it. */
const fastifyAdapter = (trustProxy: TrustProxy): FastifyAdapter =>
  new FastifyAdapter({ trustProxy: trustProxy as Exclude<TrustProxy, number> });

export async function call(url: string, method: string, { headers, body }: CallOptions = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json(): unknown {
      return JSON.parse(text);
    },
  };
}
