import { Inject, Injectable, Logger, type ExecutionContext } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { RateLimitConfigurationError } from '../core/errors.ts';
import { compileRule } from './compile-rule.ts';
import { classChain, discoverHandlers, type HttpHandler } from './discovered-handlers.ts';
import { moduleOptionFaults, type RateLimitModuleOptions } from './module-options.ts';
import { APPLICATION_PLACE, controllerPlace, handlerPlace, type Class, type Handler } from './place.ts';
import type { RateLimitOptions } from './rate-limit-options.ts';
import type { Rule, RuleKind } from './rule.ts';
import { ruleConflicts } from './rule-conflicts.ts';
import { applicableRules, type Layer } from './rule-layers.ts';
import { ownRules, type RuleMetadata } from './rule-metadata.ts';
import { uniquePlaces } from './unique-places.ts';
import { MODULE_OPTIONS } from './tokens.ts';

/** The rules of one handler, by the moment at which they are decided. */
export interface HandlerRules {
  /** Decided before the other guards, as far as they have an identity there. */
  readonly early: readonly Rule[];
  /** Decided after all guards. */
  readonly late: readonly Rule[];
  /** Whether there is a later moment: not so where the application places the guard. */
  readonly hasLateMoment: boolean;
}

const NO_RULES = { only: false, skipsAll: false, skipped: [] } as const;
/** The narrowest identity first: in this order slots of a Redis Cluster are charged. */
const BREADTH: Readonly<Record<RuleKind, number>> = { user: 0, key: 0, ip: 1, method: 2 };

/**
 * Every rule of the application and the handlers that it applies to, found and checked once, when the application
 * starts.
 *
 * @throws RateLimitConfigurationError with every fault of every rule and option
 */
@Injectable()
export class RuleBook {
  // Handlers without rules are in it too: what is not in it is a copy that an instance made of its method.
  readonly #byHandler = new Map<Class, Map<Handler, HandlerRules | undefined>>();
  readonly #named = new Map<string, Rule[]>();
  readonly #options: RateLimitModuleOptions;
  readonly #faults: string[];

  constructor(
    @Inject(MODULE_OPTIONS) options: RateLimitModuleOptions,
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(MetadataScanner) scanner: MetadataScanner,
  ) {
    this.#options = options;
    this.#faults = [...moduleOptionFaults(options)];
    const { http, others, faults } = discoverHandlers(discovery, scanner);
    this.#faults.push(...faults);
    const all = this.#readRules(http);
    this.#faults.push(...ruleConflicts(all));
    if (this.#faults.length > 0) throw new RateLimitConfigurationError([...new Set(this.#faults)]);
    for (const rule of all) {
      if (rule.name !== undefined) this.#named.set(rule.name, [...(this.#named.get(rule.name) ?? []), rule]);
    }
    if (others.length > 0 && (options.rules?.length ?? 0) > 0) {
      new Logger(RuleBook.name).warn(`The rules of forRoot cover HTTP handlers only, not ${others.join(', ')}`);
    }
  }

  /** The handlers that have something to decide after all guards. */
  get lateHandlers(): readonly Handler[] {
    return [...this.#byHandler.values()].flatMap((handlers) =>
      [...handlers].flatMap(([handler, rules]) => {
        const isLate = rules?.hasLateMoment && (rules.late.length > 0 || rules.early.some(({ when }) => !when));
        return isLate ? [handler] : [];
      }),
    );
  }

  /** Undefined where no rule applies. */
  rulesFor(context: ExecutionContext): HandlerRules | undefined {
    const handlers = this.#byHandler.get(context.getClass());
    const handler = context.getHandler() as Handler;
    return !handlers || handlers.has(handler) ? handlers?.get(handler) : rulesOfCopy(context, handlers);
  }

  /** The declared rules of this name. */
  named(name: string): readonly Rule[] {
    return this.#named.get(name) ?? [];
  }

  /** A rule that stands nowhere: it limits what its name or bucket says. */
  standalone(options: RateLimitOptions): Rule {
    const faults: string[] = [];
    const writtenOn = 'RateLimiter';
    const rule = compileRule(options, { writtenOn, place: options.name ?? '' }, this.#ruleDefaults, (fault) =>
      faults.push(fault),
    );
    if (!rule) throw new RateLimitConfigurationError(faults);
    if (rule.name === undefined && !rule.isBucket) {
      throw new RateLimitConfigurationError([
        `${writtenOn}: a rule given to it needs a name or a bucket, which its key is made of`,
      ]);
    }
    return { ...rule, suffix: '' };
  }

  get #ruleDefaults(): Partial<RateLimitOptions> {
    const { onStoreError, defaults } = this.#options;
    return { ...(onStoreError && { onStoreError }), ...defaults };
  }

  #compile(rules: readonly RateLimitOptions[], writtenOn: (i: number) => string, place: string): readonly Rule[] {
    return rules.flatMap((rule, i) => {
      const standing = { writtenOn: writtenOn(i), place };
      return compileRule(rule, standing, this.#ruleDefaults, (fault) => this.#faults.push(fault)) ?? [];
    });
  }

  /** Fills the plans of all handlers and returns every rule once. */
  #readRules(http: readonly HttpHandler[]): ReadonlySet<Rule> {
    const fault = (message: string): void => void this.#faults.push(message);
    const ofApplication = Array.isArray(this.#options.rules) ? this.#options.rules : [];
    const application: Layer = {
      writtenOn: 'forRoot',
      rules: this.#compile(ofApplication, (i) => `forRoot rules[${i}]`, APPLICATION_PLACE),
      metadata: NO_RULES,
    };
    const all = new Set(application.rules);
    const layer = (metadata: RuleMetadata, writtenOn: string, place: string): Layer => {
      const rules = this.#compile(metadata.rules, () => writtenOn, place);
      for (const rule of rules) all.add(rule);
      return { writtenOn, rules, metadata };
    };
    const controllerPlaces = uniquePlaces(
      http.filter(({ controller }) => classChain(controller).some((type) => ownRules(type))),
      ({ controller }) => controller,
      ({ controller }) => controllerPlace(controller),
      fault,
    );
    const handlerPlaces = uniquePlaces(
      http.filter(({ metadata }) => metadata),
      (handler) => handler,
      ({ controller, handler }) => handlerPlace(controller, handler),
      fault,
    );
    const layersOf = new Map<Class, readonly Layer[]>();
    for (const item of http) {
      const { controller, methodName, handler, metadata } = item;
      let layers = layersOf.get(controller);
      if (!layers) {
        layers = classChain(controller).flatMap((type) => {
          const rules = ownRules(type);
          return rules ? layer(rules, controller.name, controllerPlaces.get(controller)!) : [];
        });
        layersOf.set(controller, layers);
      }
      const ofMethod = metadata ? [layer(metadata, `${controller.name}.${methodName}`, handlerPlaces.get(item)!)] : [];
      const rules = applicableRules([application, ...layers, ...ofMethod], fault);
      this.#plan(controller, handler, rules);
    }
    return all;
  }

  #plan(controller: Class, handler: Handler, rules: readonly Rule[]): void {
    const hasLateMoment = this.#options.guard !== 'manual';
    const ordered = [...rules].sort((a, b) => BREADTH[a.kind] - BREADTH[b.kind]);
    const isLate = ({ when }: Rule): boolean => hasLateMoment && when === 'afterGuards';
    const plans = this.#byHandler.get(controller) ?? new Map<Handler, HandlerRules | undefined>();
    const [early, late] = [ordered.filter((rule) => !isLate(rule)), ordered.filter(isLate)];
    const isLimited = rules.length > 0 && this.#options.enabled !== false;
    plans.set(handler, isLimited ? { early, late, hasLateMoment } : undefined);
    this.#byHandler.set(controller, plans);
  }
}

/**
 * Of a method that an instance replaced by a bound copy of it. Nest sees none of its guards, the late one neither, so
 * everything is decided early.
 */
function rulesOfCopy(
  context: ExecutionContext,
  handlers: ReadonlyMap<Handler, HandlerRules | undefined>,
): HandlerRules | undefined {
  const methodName = context.getHandler().name.replace(/^bound /, '');
  const original = (context.getClass().prototype as Record<string, Handler | undefined>)[methodName];
  const rules = original && handlers.get(original);
  return rules && { early: [...rules.early, ...rules.late], late: [], hasLateMoment: false };
}
