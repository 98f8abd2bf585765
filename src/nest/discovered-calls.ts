import type { DiscoveryService } from '@nestjs/core';
import { limiterOf, nameOfSite, ownCallSites, type CallSite } from './call-site.ts';
import { prototypeChain } from './discovered-handlers.ts';
import { isHttpHandler, otherTransportOf, type Class, type Handler } from './place.ts';

/** A limited method, and the module of the first class that has it. */
export interface DiscoveredCall {
  readonly site: CallSite;
  readonly moduleName: string;
}

type Discovery = Pick<DiscoveryService, 'getControllers' | 'getProviders'>;

/** Every `@LimitCalls` of the application's classes, each once, and where one cannot work, one sentence each. */
export function discoverCalls(discovery: Discovery): {
  readonly calls: readonly DiscoveredCall[];
  readonly faults: readonly string[];
} {
  const calls = new Map<CallSite, DiscoveredCall>();
  const faults = new Set<string>();
  for (const { metatype, host } of [...discovery.getControllers(), ...discovery.getProviders()]) {
    const type = metatype as unknown as Class | null;
    if (typeof type !== 'function' || !type.prototype) continue;
    const prototypes = prototypeChain(type);
    const classes = [type, ...prototypes.map(({ constructor }) => constructor)];
    for (const site of classes.flatMap(ownCallSites)) faults.add(`${nameOfSite(site)}: ${ON} a static member`);
    for (const site of prototypes.flatMap(ownCallSites)) {
      const fault = misplacement(site, type);
      if (fault) faults.add(`${nameOfSite(site)}: ${fault}`);
      else if (!calls.has(site)) calls.set(site, { site, moduleName: host?.name ?? '' });
    }
  }
  return { calls: [...calls.values()], faults: [...faults] };
}

const ON = '@LimitCalls stands on';

function misplacement({ target, property }: CallSite, type: Class): string | undefined {
  if (typeof Object.getOwnPropertyDescriptor(target, property)?.value !== 'function') return `${ON} what is no method`;
  const handler = (type.prototype as Record<string | symbol, Handler>)[property]!;
  const transport = isHttpHandler(handler) ? 'HTTP' : otherTransportOf(handler);
  return transport && `${ON} a handler of ${transport} requests, where @RateLimit belongs`;
}

/** Limited methods of instances that no limiter was injected into, since a factory built them: one sentence each. */
export function unlimitedInstances(discovery: Pick<DiscoveryService, 'getProviders'>): readonly string[] {
  const faults = new Set<string>();
  for (const wrapper of discovery.getProviders()) {
    if (!wrapper.isNotMetatype || !wrapper.isDependencyTreeStatic()) continue;
    const instance: unknown = wrapper.instance;
    if (typeof instance !== 'object' || instance === null || limiterOf(instance)) continue;
    for (const site of prototypeChain({ prototype: Object.getPrototypeOf(instance) as object }).flatMap(ownCallSites)) {
      faults.add(
        `${nameOfSite(site)}: ${ON} a method of an instance that a factory built, or that is a value: only Nest injects the limiter, so provide the class`,
      );
    }
  }
  return [...faults];
}
