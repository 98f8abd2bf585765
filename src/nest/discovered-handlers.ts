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

/** What no HTTP request would ever meet, and would be silently without effect. */
function misplacedRules(type: Class, methods: readonly Method[], isController: boolean): readonly string[] {
  const faults: string[] = [];
  const ofClass = classChain(type).some((base) => hasRules(ownRules(base)));
  if (ofClass && !isController) faults.push(`${type.name}: ${RULES} on a class that is no HTTP controller`);
  for (const property of Object.getOwnPropertyNames(type)) {
    if (ownRules(type, property)) faults.push(`${type.name}.${property}: ${RULES} on a static member`);
  }
  for (const property of prototypeChain(type).flatMap(decoratedProperties)) {
    if (methods.some(({ methodName }) => methodName === property)) continue;
    faults.push(`${type.name}.${String(property)}: ${RULES} on what is no method with a name`);
  }
  for (const { methodName, handler, metadata } of methods) {
    const where = `${type.name}.${methodName}`;
    const transport = otherTransportOf(handler);
    if (transport && (hasRules(metadata) || (ofClass && isController && !metadata?.skipsAll))) {
      faults.push(`${where}: ${RULES} on a ${transport} handler, which only HTTP routes can have`);
    } else if (!transport && metadata && !(isController && isHttpHandler(handler))) {
      faults.push(`${where}: ${RULES} on a method that is no HTTP route (RateLimiter limits those)`);
    }
  }
  return faults;
}

const RULES = 'rules, or exemptions from rules, stand';

const decoratedProperties = (prototype: object): readonly (string | symbol)[] =>
  Reflect.ownKeys(prototype).filter((property) => ownRules(prototype, property));

/** Whether something is limited here, and not only skipped. */
export const hasRules = (metadata: RuleMetadata | undefined): boolean => (metadata?.rules.length ?? 0) > 0;

/**
 * The class and its bases, the outermost base first. A decorator may have wrapped the class: what its prototype calls
 * its constructor is the class that was written.
 */
export function classChain(type: Class): readonly Class[] {
  const written = prototypeChain(type).map(({ constructor }) => constructor as unknown as Class);
  return written.includes(type) ? written : [...written, type];
}

/** The prototypes that the class's instances inherit from, the outermost base first. */
export function prototypeChain(type: { readonly prototype: unknown }): readonly object[] {
  const chain: object[] = [];
  let prototype = type.prototype as object | null;
  while (prototype && prototype !== Object.prototype) {
    chain.unshift(prototype);
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return chain;
}

function declaringPrototype(prototype: object, methodName: string): object {
  let owner = prototype;
  while (!Object.hasOwn(owner, methodName)) owner = Object.getPrototypeOf(owner) as object;
  return owner;
}
