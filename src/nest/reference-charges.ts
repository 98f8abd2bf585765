import { MAX_LIMIT } from '../core/charge.ts';
import { show } from '../core/show.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import { clientAddress } from '../transports/client-address.ts';
import { isSameBlock } from './block-option.ts';
import { RULE_DEFAULTS } from './compile-rule.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { RuleCharge } from './rule-charges.ts';
import { ruleKey } from './rule-key.ts';
import type { StandaloneRule } from './standalone-rule.ts';

/** A declared rule by its name, or a rule of its own with a name or a bucket. */
export type RuleReference = string | StandaloneRule;

/** The charges of calls that name a rule and an identity, and come with no request. */
export class ReferenceCharges {
  readonly #rules: RuleBook;
  readonly #ipv6Prefix: number;
  readonly #standalone = new WeakMap<StandaloneRule, Rule>();

  constructor(rules: RuleBook, ipv6Prefix: number) {
    this.#rules = rules;
    this.#ipv6Prefix = ipv6Prefix;
  }

  /** The rule that is meant. @throws TypeError for a name that no rule has, or several that differ */
  ruleOf(reference: RuleReference): Rule {
    return typeof reference === 'string' ? this.#declared(reference) : this.#given(reference);
  }

  /** What the rule takes from the budget of this identity. @throws TypeError for what cannot be charged */
  of(rule: Rule, identity: string, cost: Rule['cost'] = rule.cost): RuleCharge {
    const { windowMs, limit, layout, label, onStoreError, kind, writtenOn } = rule;
    if (typeof windowMs !== 'number' || typeof limit !== 'number' || typeof cost === 'function') {
      throw new TypeError(
        `${writtenOn} (${label}): window, limit and cost must be values here, not functions of a request`,
      );
    }
    const parsed = parseWholeNumber(cost, MAX_LIMIT, 0);
    if ('fault' in parsed) throw new TypeError(`${writtenOn} (${label}): cost ${parsed.fault}, got ${show(cost)}`);
    const key = ruleKey(rule, { kind, value: this.#identityValue(rule, identity) });
    const isAlwaysTracked = kind === 'method';
    const charge = { key, limit, windowMs, cost: parsed.value, layout, rule: label, onStoreError, isAlwaysTracked };
    return { rule, charge };
  }

  /** What a refusal tells where there is no request that a function of it could be asked for. */
  messageOf(reference: RuleReference): string {
    const { message } = this.ruleOf(reference);
    return typeof message === 'string' ? message : RULE_DEFAULTS.message;
  }

  #identityValue({ kind, place, label, writtenOn }: Rule, identity: string): string {
    if (kind === 'method') return place;
    if (typeof identity !== 'string' || identity === '') {
      throw new TypeError(
        `${writtenOn} (${label}): identity must be a string that is not empty, got ${show(identity)}`,
      );
    }
    return kind === 'ip' ? clientAddress(identity, this.#ipv6Prefix) : identity;
  }

  #declared(name: string): Rule {
    const [rule, ...others] = this.#rules.named(name);
    if (!rule) throw new TypeError(`no rule is named ${show(name)}`);
    const isSame = (other: Rule): boolean =>
      (['kind', 'place', 'suffix', 'windowMs', 'limit', 'cost', 'layout'] as const).every(
        (part) => other[part] === rule[part],
      ) && isSameBlock(other.block, rule.block);
    if (!others.every(isSame))
      throw new TypeError(
        `several rules are named ${show(name)}, which differ: give those that share a budget one bucket, and one limit`,
      );
    return rule;
  }

  #given(options: StandaloneRule): Rule {
    let rule = this.#standalone.get(options);
    if (!rule) this.#standalone.set(options, (rule = this.#rules.standalone(options)));
    return rule;
  }
}
