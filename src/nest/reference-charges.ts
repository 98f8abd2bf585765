import { MAX_LIMIT } from '../core/charge.ts';
import { show } from '../core/show.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import { clientAddress } from '../transports/client-address.ts';
import { RULE_DEFAULTS } from './compile-rule.ts';
import { isEnforcedFor } from './enforced-share.ts';
import type { LiveRules } from './live-rules.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { RuleCharge } from './rule-charges.ts';
import { ruleKey } from './rule-key.ts';
import { aloneInForce, type RuleInForce } from './rule-succession.ts';
import type { StandaloneRule } from './standalone-rule.ts';
import { soleRule } from './sole-rule.ts';

/** A declared rule by its name, or a rule of its own with a name or a bucket. */
export type RuleReference = string | StandaloneRule;

/** The charges of calls that name a rule and an identity, and come with no request. */
export class ReferenceCharges {
  readonly #rules: RuleBook;
  readonly #live: LiveRules;
  readonly #ipv6Prefix: number;
  readonly #standalone = new WeakMap<StandaloneRule, Rule>();

  constructor(rules: RuleBook, live: LiveRules, ipv6Prefix: number) {
    this.#rules = rules;
    this.#live = live;
    this.#ipv6Prefix = ipv6Prefix;
  }

  /**
   * What the rule in force takes from the budget of this identity, and then, while its window changes, the rules whose
   * place it took.
   *
   * @throws TypeError for a name that no rule has, or several that differ, and for what cannot be charged
   */
  of(reference: RuleReference, identity: string, cost?: number): readonly [RuleCharge, ...RuleCharge[]] {
    const { rule, formers } = this.#inForce(reference);
    const charged = this.#charged(rule, identity, cost);
    return [charged, ...formers.map((former) => ({ ...this.#charged(former.rule, identity, cost), rule }))];
  }

  #written(reference: RuleReference): Rule {
    if (typeof reference === 'string') return soleRule(reference, this.#rules.named(reference));
    return this.#rules.calls.holds(reference) ? reference : this.#given(reference);
  }

  #inForce(reference: RuleReference): RuleInForce {
    const written = this.#written(reference);
    return this.#live.of(written) ?? aloneInForce(written);
  }

  #charged(rule: Rule, identity: string, cost: Rule['cost'] = rule.cost): RuleCharge {
    const { windowMs, limit, layout, warmUp, label, kind, writtenOn } = rule;
    if (typeof windowMs !== 'number' || typeof limit !== 'number' || typeof cost === 'function') {
      throw new TypeError(
        `${writtenOn} (${label}): window, limit and cost must be values here, not functions of a request`,
      );
    }
    const parsed = parseWholeNumber(cost, MAX_LIMIT, 0);
    if ('fault' in parsed) throw new TypeError(`${writtenOn} (${label}): cost ${parsed.fault}, got ${show(cost)}`);
    const whose = { kind, value: this.#identityValue(rule, identity) };
    const isShadow = !isEnforcedFor(rule, whose);
    const key = ruleKey(rule, whose, isShadow);
    const onStoreError = isShadow ? 'allow' : rule.onStoreError;
    const isAlwaysTracked = kind === 'method';
    const charge = {
      key,
      limit,
      windowMs,
      cost: parsed.value,
      layout,
      warmUp,
      rule: label,
      onStoreError,
      isAlwaysTracked,
    };
    return { rule, charge, isShadow };
  }

  /** What a refusal tells where there is no request that a function of it could be asked for. */
  messageOf(reference: RuleReference): string {
    const { message } = this.#inForce(reference).rule;
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

  #given(options: StandaloneRule): Rule {
    let rule = this.#standalone.get(options);
    if (!rule) this.#standalone.set(options, (rule = this.#rules.standalone(options)));
    return rule;
  }
}
