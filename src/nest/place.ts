import { RequestMethod } from '@nestjs/common';

// Nest's own names for what its route decorators store. Both majors keep them, and neither exports them to libraries.
const PATH = 'path';
const METHOD = 'method';
const HOST = 'host';
const VERSION = '__version__';

/** Handlers of other transports by the metadata of their decorators. */
const OTHER_TRANSPORTS: Readonly<Record<string, string>> = {
  'microservices:handler_type': 'microservice',
  'websockets:message_mapping': 'WebSocket',
  'graphql:resolver_type': 'GraphQL',
};

export type Class = abstract new (...args: never[]) => unknown;
export type Handler = (...args: never[]) => unknown;

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

const metadata = (key: string, ...targets: readonly object[]): unknown => {
  for (const target of targets) {
    const value = first(Reflect.getMetadata(key, target));
    if (value !== undefined) return value;
  }
  return undefined;
};

const pathOf = (target: object): string => {
  const path = metadata(PATH, target);
  return typeof path === 'string' ? path : '';
};

const joined = (...paths: readonly string[]): string =>
  `/${paths.join('/')}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');

const hostOf = (controller: Class): string => {
  const host = metadata(HOST, controller);
  return host instanceof RegExp ? host.source : typeof host === 'string' ? host : '';
};

const versionOf = (...targets: readonly object[]): string => {
  const version = metadata(VERSION, ...targets);
  return typeof version === 'string' ? ` v${version}` : '';
};

/** Whether Nest serves this method over HTTP. */
export const isHttpHandler = (handler: Handler): boolean => Reflect.hasMetadata(PATH, handler);

/** The transport that serves this method if it is not HTTP. */
export const otherTransportOf = (handler: Handler): string | undefined =>
  Object.entries(OTHER_TRANSPORTS).find(([key]) => Reflect.hasMetadata(key, handler))?.[1];

/**
 * What a rule on this handler limits, as it was declared: the verb, the first host, path and version, without what
 * only the running application knows (global prefix, default version).
 */
export function handlerPlace(controller: Class, handler: Handler): string {
  const verb = RequestMethod[Number(metadata(METHOD, handler) ?? RequestMethod.GET)];
  const path = joined(pathOf(controller), pathOf(handler));
  return `${verb} ${hostOf(controller)}${path}${versionOf(handler, controller)}`;
}

/** What a rule on the controller as a whole limits. */
export const controllerPlace = (controller: Class): string =>
  `${hostOf(controller)}${joined(pathOf(controller), '*')}${versionOf(controller)}`;

/** What a rule of the module limits. */
export const APPLICATION_PLACE = 'application';
