import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { isHttpHandler, otherTransportOf, type Class, type Handler } from './place.ts';
import { ownRules, type RuleMetadata } from './rule-metadata.ts';

/** A method that Nest serves over HTTP, on the concrete controller that it is served from. */
export interface HttpHandler {
  readonly controller: Class;
  readonly moduleName: string;
  readonly methodName: string;
  readonly handler: Handler;
  /** What is written on the method itself. */
  readonly metadata: RuleMetadata | undefined;
}

export interface DiscoveredHandlers {
  readonly http: readonly HttpHandler[];
  /** Handlers of other transports, as messages name them. */
  readonly others: readonly string[];
  /** Rules that stand where no HTTP request passes, one sentence each. */
  readonly faults: readonly string[];
}

type Discovery = Pick<DiscoveryService, 'getControllers' | 'getProviders'>;

/** All handlers of the application, each concrete class once, however many modules it is in. */
export function discoverHandlers(
  discovery: Discovery,
  scanner: Pick<MetadataScanner, 'getAllMethodNames'>,
): DiscoveredHandlers {
  const http: HttpHandler[] = [];
  const others: string[] = [];
  const faults: string[] = [];
  const seen = new Set<Class>();

  const visit = (wrapper: { metatype: unknown; host?: { name: string } }, isController: boolean): void => {
    const type = wrapper.metatype as Class | null;
    if (typeof type !== 'function' || !type.prototype || seen.has(type)) return;
    seen.add(type);
    const prototype = type.prototype as Record<string, Handler>;
    if (!isController && classChain(type).some((base) => ownRules(base))) {
      faults.push(`${type.name}: rules stand on a class that is no HTTP controller`);
    }
    for (const property of Object.getOwnPropertyNames(type)) {
      if (ownRules(type, property)) faults.push(`${type.name}.${property}: rules stand on a static member`);
    }
    for (const methodName of scanner.getAllMethodNames(prototype as object)) {
      const handler = prototype[methodName]!;
      const where = `${type.name}.${methodName}`;
      const metadata = ownRules(declaringPrototype(prototype, methodName), methodName);
      const transport = otherTransportOf(handler);
      if (transport) others.push(`${where} (${transport})`);
      if (isController && isHttpHandler(handler)) {
        http.push({ controller: type, moduleName: wrapper.host?.name ?? '', methodName, handler, metadata });
      } else if (metadata) {
        faults.push(
          `${where}: rules stand on a ${transport ?? 'method'} ${transport ? 'handler' : ''} that is no HTTP route`.replace(
            '  ',
            ' ',
          ),
        );
      }
    }
  };

  for (const wrapper of discovery.getControllers()) visit(wrapper, true);
  for (const wrapper of discovery.getProviders()) visit(wrapper, false);
  return { http, others, faults };
}

/** The class and its bases, the outermost base first. */
export function classChain(type: Class): readonly Class[] {
  const base = Object.getPrototypeOf(type) as Class | null;
  return base && base !== Function.prototype ? [...classChain(base), type] : [type];
}

function declaringPrototype(prototype: object, methodName: string): object {
  let owner = prototype;
  while (!Object.hasOwn(owner, methodName)) owner = Object.getPrototypeOf(owner) as object;
  return owner;
}
