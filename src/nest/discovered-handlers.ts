import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { isHttpHandler, otherTransportOf, type Class, type Handler } from './place.ts';
import { ownRules, type RuleMetadata } from './rule-metadata.ts';

/** A method that Nest serves, on the concrete controller that it is served from. */
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

interface Wrapper {
  readonly metatype: unknown;
  readonly host?: { readonly name: string };
}

type Discovery = Pick<DiscoveryService, 'getControllers' | 'getProviders'>;
type Scanner = Pick<MetadataScanner, 'getAllMethodNames'>;

/** All handlers of the application, each concrete class once, however many modules it is in. */
export function discoverHandlers(discovery: Discovery, scanner: Scanner): DiscoveredHandlers {
  const found = { http: [] as HttpHandler[], others: [] as string[], faults: [] as string[] };
  const seen = new Set<Class>();
  const visit = (wrapper: Wrapper, isController: boolean): void => {
    const type = wrapper.metatype as Class | null;
    if (typeof type !== 'function' || !type.prototype || seen.has(type)) return;
    seen.add(type);
    const methods = methodsOf(type, scanner);
    found.faults.push(...misplacedRules(type, methods, isController));
    for (const { methodName, handler, metadata } of methods) {
      const transport = otherTransportOf(handler);
      if (transport) found.others.push(`${type.name}.${methodName} (${transport})`);
      if (isController && isHttpHandler(handler)) {
        found.http.push({ controller: type, moduleName: wrapper.host?.name ?? '', methodName, handler, metadata });
      }
    }
  };
  for (const wrapper of discovery.getControllers()) visit(wrapper, true);
  for (const wrapper of discovery.getProviders()) visit(wrapper, false);
  return found;
}

interface Method {
  readonly methodName: string;
  readonly handler: Handler;
  readonly metadata: RuleMetadata | undefined;
}

function methodsOf(type: Class, scanner: Scanner): readonly Method[] {
  const prototype = type.prototype as Record<string, Handler>;
  return scanner.getAllMethodNames(prototype as object).map((methodName) => ({
    methodName,
    handler: prototype[methodName]!,
    metadata: ownRules(declaringPrototype(prototype, methodName), methodName),
  }));
}

/** Rules that no HTTP request would ever meet. They would be silently without effect. */
function misplacedRules(type: Class, methods: readonly Method[], isController: boolean): readonly string[] {
  const faults: string[] = [];
  const ofClass = classChain(type).some((base) => hasRules(ownRules(base)));
  if (ofClass && !isController) faults.push(`${type.name}: rules stand on a class that is no HTTP controller`);
  for (const property of Object.getOwnPropertyNames(type)) {
    if (ownRules(type, property)) faults.push(`${type.name}.${property}: rules stand on a static member`);
  }
  for (const { methodName, handler, metadata } of methods) {
    const where = `${type.name}.${methodName}`;
    const transport = otherTransportOf(handler);
    if (transport && (hasRules(metadata) || (ofClass && isController && !metadata?.skipsAll))) {
      faults.push(`${where}: rules stand on a ${transport} handler, which only HTTP routes can have`);
    } else if (!transport && metadata && !(isController && isHttpHandler(handler))) {
      faults.push(`${where}: rules stand on a method that is no HTTP route`);
    }
  }
  return faults;
}

/** Whether something is limited here, and not only skipped. */
export const hasRules = (metadata: RuleMetadata | undefined): boolean => (metadata?.rules.length ?? 0) > 0;

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
