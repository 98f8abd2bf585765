import type { DiscoveryService } from '@nestjs/core';
import { RateLimitConfigurationError } from '../core/errors.ts';
import { nameOfSite, type CallSite } from './call-site.ts';
import { discoverCalls, unlimitedInstances, type DiscoveredCall } from './discovered-calls.ts';
import { asRuleOptions } from './limit-calls-options.ts';
import type { RateLimitOptions } from './rate-limit-options.ts';
import type { Rule } from './rule.ts';
import { uniquePlaces } from './unique-places.ts';
import type { WrittenRules } from './written-rules.ts';

/**
 * The rules of limited methods. A method has the place `SmsService.send`, by the class that declares it; where several
 * classes have one name, the module of each is added.
 */
export class CallRules {
  readonly #faults = new Set<string>();
  readonly #discovery: DiscoveryService;
  readonly #written: WrittenRules;
  readonly #defaults: Partial<RateLimitOptions>;
  readonly #ruleAt = new Map<CallSite, Rule>();
  readonly #all = new WeakSet<Rule>();

  constructor(discovery: DiscoveryService, written: WrittenRules, defaults: Partial<RateLimitOptions>) {
    this.#discovery = discovery;
    this.#written = written;
    this.#defaults = defaults;
    const fault = (message: string): void => void this.#faults.add(message);
    const { calls, faults } = discoverCalls(discovery);
    for (const each of faults) fault(each);
    const owner = ownerOf(calls);
    const places = uniquePlaces(
      calls,
      owner,
      ({ site }) => nameOfSite(site),
      ({ moduleName }) => `in ${moduleName}`,
      fault,
    );
    for (const call of calls) {
      const rule = this.#compile(call.site, places.get(owner(call))!, fault);
      if (rule) this.#note(call.site, rule);
    }
  }

  /** All of them, when the application starts. */
  get rules(): Iterable<Rule> {
    return this.#ruleAt.values();
  }

  /** Whether this very object is one of them. */
  holds(rule: object): rule is Rule {
    return this.#all.has(rule as Rule);
  }

  /** What is wrong with them, one sentence each. */
  get faults(): Iterable<string> {
    return this.#faults;
  }

  /** The rule that stands there. @throws RateLimitConfigurationError for a fault of a class that discovery did not see */
  at(site: CallSite): Rule {
    const known = this.#ruleAt.get(site);
    if (known) return known;
    const faults: string[] = [];
    const rule = this.#compile(site, nameOfSite(site), (message) => faults.push(message));
    if (!rule) throw new RateLimitConfigurationError(faults);
    this.#note(site, rule);
    return rule;
  }

  /** @throws RateLimitConfigurationError when some of the instances, which there are by now, cannot be limited */
  assertInstancesLimited(): void {
    const faults = unlimitedInstances(this.#discovery);
    if (faults.length > 0) throw new RateLimitConfigurationError(faults);
  }

  #note(site: CallSite, rule: Rule): void {
    this.#ruleAt.set(site, rule);
    this.#all.add(rule);
  }

  #compile(site: CallSite, place: string, fault: (message: string) => void): Rule | undefined {
    const writtenOn = nameOfSite(site);
    const options = asRuleOptions(site.options, writtenOn, fault);
    return options === undefined ? undefined : this.#written.add(options, { writtenOn, place }, this.#defaults, fault);
  }
}

/** All that stands on one method has one owner. */
function ownerOf(calls: readonly DiscoveredCall[]): (call: DiscoveredCall) => CallSite {
  const methods = new Map<object, Map<string | symbol, CallSite>>();
  for (const { site } of calls) {
    const ofTarget = methods.get(site.target) ?? new Map<string | symbol, CallSite>();
    methods.set(site.target, ofTarget);
    if (!ofTarget.has(site.property)) ofTarget.set(site.property, site);
  }
  return ({ site }) => methods.get(site.target)!.get(site.property)!;
}
