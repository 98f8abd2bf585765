import { RateLimitConfigurationError } from '../core/errors.ts';
import { show } from '../core/show.ts';
import type { LiveRules } from './live-rules.ts';
import type { RateLimitOptions } from './rate-limit-options.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { RuleNumber } from './rule-number.ts';
import { overrideFaults, valuesOf, type RuleOverride } from './rule-override.ts';
import type { RuleOverrideIntake } from './rule-override-intake.ts';
import { aloneInForce } from './rule-succession.ts';

/**
 * What holds of a rule in this process. A name may stand in several places: what its rules differ in is undefined, as is
 * what a function finds for each request.
 */
export interface RuleStatus {
  /** Of the rule. */
  readonly name: string;
  /** Units admitted in any window. */
  readonly limit: number | undefined;
  /** Milliseconds. */
  readonly windowMs: number | undefined;
  /** Units that one request takes. */
  readonly cost: number | undefined;
  /** What the client is told. */
  readonly message: RateLimitOptions['message'];
  /** The share of identities that it is enforced for: 100 as a rule, 0 in shadow. */
  readonly enforcePercent: number | undefined;
  /** Where that comes from: the code, the Observable in the option `overrides`, or {@link RateLimitRules.override}. */
  readonly origin: 'code' | 'overrides' | 'rules';
  /** What is other than in the code. */
  readonly override?: RuleOverride;
  /** Of the last `override` or `clear` of this rule that has reached this process. */
  readonly version?: number;
  /** Earlier windows that are judged besides until they have passed, milliseconds. */
  readonly formerWindowsMs: readonly number[];
}

interface Parts {
  readonly book: RuleBook;
  readonly live: LiveRules;
  readonly intake: RuleOverrideIntake;
}

/** Changes declared rules by their names while they are in force; all rules of a name together. */
export class RateLimitRules {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What holds of a rule now, in this process. @throws TypeError for a name that no rule has */
  get(name: string): RuleStatus {
    const { live, intake } = this.#parts;
    const inForce = this.#declared(name).map((written) => live.of(written) ?? aloneInForce(written));
    const rules = inForce.map(({ rule }) => rule);
    const formerWindowsMs = inForce.flatMap(({ formers }) => formers.map(({ rule }) => rule.windowMs as number));
    const override: RuleOverride | undefined = live.valuesOf(name);
    const kept = intake.keptOf(name);
    const origin = !override ? 'code' : kept?.values ? 'rules' : 'overrides';
    return {
      name,
      limit: asValue(common(rules, 'limit')),
      windowMs: asValue(common(rules, 'windowMs')),
      cost: asValue(common(rules, 'cost')),
      message: common(rules, 'message'),
      enforcePercent: common(rules, 'enforcePercent'),
      origin,
      ...(override && { override }),
      ...(kept && { version: kept.version }),
      formerWindowsMs: [...new Set(formerWindowsMs)],
    };
  }

  /**
   * Puts these values in the place of those of the code, in every process that shares the Redis, and until
   * {@link clear}: in this one before it resolves, in the others within a second. They take the place of earlier ones
   * as a whole, and go before those that the option `overrides` gives. Without `redis`, in this process until it ends.
   *
   * @throws TypeError for a name that no rule has; RateLimitConfigurationError for what the rule cannot be, all faults
   *   told, and where the option `liveRules` is missing; StoreUnavailableError when Redis may not have kept it
   */
  async override(name: string, change: RuleOverride): Promise<RuleStatus> {
    const { live, intake } = this.#parts;
    this.#declared(name);
    const faults = overrideFaults(change);
    const found = faults.length > 0 ? faults : live.faultsIn(name, valuesOf(change));
    if (found.length > 0) {
      intake.reject(name, found);
      throw new RateLimitConfigurationError(found.map((fault) => `the override of ${show(name)}: ${fault}`));
    }
    await this.#store().change(name, valuesOf(change));
    return this.get(name);
  }

  /**
   * Takes back what {@link override} put in the place of the code, everywhere.
   *
   * @throws as {@link override}
   */
  async clear(name: string): Promise<RuleStatus> {
    this.#declared(name);
    await this.#store().change(name, undefined);
    return this.get(name);
  }

  /** The rules of this name, one at least. */
  #declared(name: string): readonly Rule[] {
    const rules = this.#parts.book.named(name);
    if (rules.length === 0) throw new TypeError(`no rule is named ${show(name)}`);
    return rules;
  }

  #store() {
    const { store } = this.#parts.intake;
    if (!store) {
      throw new RateLimitConfigurationError([
        'option liveRules must be true for RateLimiter.rules to change rules in all processes: it takes a second ' +
          'connection to Redis',
      ]);
    }
    return store;
  }
}

/** What the rules have all alike. */
const common = <Part extends keyof Rule>(rules: readonly Rule[], part: Part): Rule[Part] | undefined => {
  const [value, ...others] = new Set(rules.map((rule) => rule[part]));
  return others.length === 0 ? value : undefined;
};

const asValue = (number: RuleNumber | undefined): number | undefined =>
  typeof number === 'number' ? number : undefined;
