import { Inject, Injectable, Logger } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { RateLimitConfigurationError } from '../core/errors.ts';
import type { OverrideValues } from '../core/rule-override-store.ts';
import { CallRules } from './call-rules.ts';
import { classChain, discoverHandlers, hasRules, type HttpHandler } from './discovered-handlers.ts';
import { RulesByHandler, type InForce } from './rules-by-handler.ts';
import { moduleOptionFaults, ruleDefaults, type RateLimitModuleOptions } from './module-options.ts';
import { APPLICATION_PLACE, controllerPlace, handlerPlace, type Class, type Handler } from './place.ts';
import type { RateLimitOptions } from './rate-limit-options.ts';
import { RootModuleCheck } from './root-module-check.ts';
import type { Rule } from './rule.ts';
import { bucketConflicts, ruleConflicts } from './rule-conflicts.ts';
import { applicableRules, type Layer } from './rule-layers.ts';
import { ownRules, type RuleMetadata } from './rule-metadata.ts';
import { standaloneRule, type StandaloneRule } from './standalone-rule.ts';
import { withLargeLogs } from './large-logs.ts';
import { MODULE_OPTIONS } from './tokens.ts';
import { uniquePlaces } from './unique-places.ts';
import { WrittenRules } from './written-rules.ts';

const SKIPS_NOTHING = { only: false, skipsAll: false, skipped: [] } as const;

/**
 * Every rule of the application and the handlers that it applies to, found and checked once, when the application
 * starts.
 *
 * @throws RateLimitConfigurationError with every fault of every rule and option
 */
@Injectable()
export class RuleBook {
  readonly #written = new WrittenRules();
  /** Those that apply to one handler, for each handler. */
  readonly #applicable: (readonly Rule[])[] = [];
  /** Those that apply to some handler: a rule may be replaced everywhere it could. */
  readonly #applied = new Set<Rule>();
  readonly #faults = new Set<string>();
  readonly #options: RateLimitModuleOptions;
  readonly #discovery: DiscoveryService;
  readonly #http: readonly HttpHandler[];
  /** Which of them apply to which handler. */
  readonly handlers: RulesByHandler;
  /** What stands on methods of providers. */
  readonly calls: CallRules;

  constructor(
    @Inject(MODULE_OPTIONS) options: RateLimitModuleOptions,
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(MetadataScanner) scanner: MetadataScanner,
    @Inject(RootModuleCheck) _first: RootModuleCheck,
  ) {
    this.#options = options;
    this.#discovery = discovery;
    this.#note(moduleOptionFaults(options));
    this.#throwFaultsUnless(typeof options === 'object' && options !== null);
    this.handlers = new RulesByHandler(options);

    const { http, others, faults } = discoverHandlers(discovery, scanner);
    this.#http = http;
    this.#note(faults);
    this.calls = new CallRules(discovery, this.#written, ruleDefaults(options));
    this.#readRules();
    this.#note(this.calls.faults);
    for (const rule of this.calls.rules) this.#applied.add(rule);
    this.#note(ruleConflicts(this.#applied));
    this.#throwFaultsUnless(this.#faults.size === 0);
    if (others.length > 0 && (options.rules?.length ?? 0) > 0) {
      new Logger('RateLimit').warn(`The rules of forRoot cover HTTP handlers only, not ${others.join(', ')}`);
    }
  }

  /** Takes in the functions that instances have in place of their methods, once there are instances. */
  findReplacedMethods(): void {
    for (const { instance, metatype } of this.#discovery.getControllers()) {
      for (const { controller, methodName, handler } of this.#http) {
        const served = (instance as Record<string, Handler> | undefined)?.[methodName];
        if (controller === metatype && served && served !== handler)
          this.handlers.addReplacement(controller, served, handler);
      }
    }
  }

  /** Takes in which rules are in force in the place of those that are written. */
  follow(inForce: InForce): void {
    this.handlers.follow(inForce);
  }

  /** The rules of which each client can fill a log that takes much memory, as messages name them. */
  get withLargeLogs(): readonly string[] {
    return withLargeLogs(this.#applied);
  }

  /** The rules that are written on controllers and in the module. */
  get declared(): Iterable<Rule> {
    return this.#written.all;
  }

  /** The declared rules of this name. */
  named(name: string): readonly Rule[] {
    const declared = this.#written.named(name);
    const applied = declared.filter((rule) => this.#applied.has(rule));
    return applied.length > 0 ? applied : declared;
  }

  /** A rule that stands nowhere: it limits what its name or bucket says. @throws RateLimitConfigurationError */
  standalone(options: StandaloneRule): Rule {
    const declared = { named: (name: string) => this.named(name), rules: this.#written.all };
    return standaloneRule(options, ruleDefaults(this.#options), declared);
  }

  /** A declared rule with other values, or undefined when `fault` was told what is wrong with them. */
  overridden(rule: Rule, values: OverrideValues, fault: (message: string) => void): Rule | undefined {
    return this.#written.rewritten(rule, values, ruleDefaults(this.#options), fault);
  }

  /** What is wrong with the rules beside each other, if others stood in the places of some. */
  conflictsWith(inPlaceOf: (rule: Rule) => Rule): readonly string[] {
    const ofHandlers = this.#applicable.flatMap((rules) => bucketConflicts(rules.map(inPlaceOf)));
    return [...ruleConflicts([...this.#applied].map(inPlaceOf)), ...ofHandlers];
  }

  #note(faults: Iterable<string>): void {
    for (const fault of faults) this.#faults.add(fault);
  }

  #throwFaultsUnless(isFine: boolean): void {
    if (!isFine) throw new RateLimitConfigurationError([...this.#faults]);
  }

  #compile(rules: readonly RateLimitOptions[], writtenOn: (i: number) => string, place: string): readonly Rule[] {
    const defaults = ruleDefaults(this.#options);
    const fault = (message: string): void => void this.#faults.add(message);
    return rules.flatMap(
      (options, i) => this.#written.add(options, { writtenOn: writtenOn(i), place }, defaults, fault) ?? [],
    );
  }

  #layer(metadata: RuleMetadata, writtenOn: string, place = ''): Layer {
    return { writtenOn, rules: this.#compile(metadata.rules, () => writtenOn, place), metadata };
  }

  #readRules(): void {
    const fault = (message: string): void => void this.#faults.add(message);
    const ofApplication = Array.isArray(this.#options.rules) ? this.#options.rules : [];
    const application: Layer = {
      writtenOn: 'forRoot',
      rules: this.#compile(ofApplication, (i) => `forRoot rules[${i}]`, APPLICATION_PLACE),
      metadata: SKIPS_NOTHING,
    };
    const layersOf = this.#controllerLayers(fault);
    const places = uniquePlaces(
      this.#http.filter(({ metadata }) => hasRules(metadata)),
      (item) => item,
      ({ controller, handler }) => handlerPlace(controller, handler),
      ({ controller, methodName, moduleName }) => `${controller.name}.${methodName} in ${moduleName}`,
      fault,
    );
    for (const item of this.#http) {
      const { controller, methodName, handler, metadata } = item;
      const ofMethod = metadata && this.#layer(metadata, `${controller.name}.${methodName}`, places.get(item));
      const layers = [application, ...layersOf.get(controller)!, ...(ofMethod ? [ofMethod] : [])];
      const rules = applicableRules(layers, fault);
      for (const rule of rules) this.#applied.add(rule);
      this.#note(bucketConflicts(rules));
      this.#applicable.push(rules);
      this.handlers.add(controller, handler, this.#options.enabled === false ? [] : rules);
    }
  }

  /** What stands on each controller and its base classes. */
  #controllerLayers(fault: (message: string) => void): ReadonlyMap<Class, readonly Layer[]> {
    const places = uniquePlaces(
      this.#http.filter(({ controller }) => classChain(controller).some((type) => hasRules(ownRules(type)))),
      ({ controller }) => controller,
      ({ controller }) => controllerPlace(controller),
      ({ controller, moduleName }) => `${controller.name} in ${moduleName}`,
      fault,
    );
    const layersOf = new Map<Class, readonly Layer[]>();
    for (const { controller } of this.#http) {
      if (layersOf.has(controller)) continue;
      const written = classChain(controller).flatMap((type) => ownRules(type) ?? []);
      layersOf.set(
        controller,
        written.map((metadata) => this.#layer(metadata, controller.name, places.get(controller))),
      );
    }
    return layersOf;
  }
}
