import type { OverrideValues } from '../core/rule-override-store.ts';
import { compileRule, type Standing } from './compile-rule.ts';
import type { RateLimitOptions } from './rate-limit-options.ts';
import type { Rule } from './rule.ts';

type Fault = (message: string) => void;

/** The rules without faults, and what was written of each. */
export class WrittenRules {
  readonly #sources = new Map<Rule, { readonly options: RateLimitOptions; readonly standing: Standing }>();
  readonly #named = new Map<string, readonly Rule[]>();

  get all(): Iterable<Rule> {
    return this.#sources.keys();
  }

  named(name: string): readonly Rule[] {
    return this.#named.get(name) ?? [];
  }

  /** Undefined when `fault` was told what is wrong with it. */
  add(
    options: RateLimitOptions,
    standing: Standing,
    defaults: Partial<RateLimitOptions>,
    fault: Fault,
  ): Rule | undefined {
    const rule = compileRule(options, standing, defaults, fault);
    if (!rule) return undefined;
    this.#sources.set(rule, { options, standing });
    if (rule.name !== undefined) this.#named.set(rule.name, [...this.named(rule.name), rule]);
    return rule;
  }

  /** A rule with other values, or undefined when `fault` was told what is wrong with them. */
  rewritten(rule: Rule, values: OverrideValues, defaults: Partial<RateLimitOptions>, fault: Fault): Rule | undefined {
    const { options, standing } = this.#sources.get(rule)!;
    const compiled = compileRule({ ...withoutShare(options, values), ...values }, standing, defaults, fault);
    return compiled && { ...compiled, writtenWindowMs: rule.windowMs };
  }
}

/** Who is enforced is said by `mode` or by `enforcePercent`: an override of one takes the place of the other. */
function withoutShare(options: RateLimitOptions, values: OverrideValues): RateLimitOptions {
  if (!('mode' in values || 'enforcePercent' in values)) return options;
  const { mode: _mode, enforcePercent: _percent, ...others } = options;
  return others;
}
