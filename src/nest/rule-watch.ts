import type { Charge } from '../core/charge.ts';
import type { Rule } from './rule.ts';
import type { Warnings } from './warnings.ts';

/** So many requests that all look alike are a mistake more likely than chance. */
const REQUESTS_TO_WARN_AT = 100;

/** Notices rules that do not do what they seem to, from the requests that they meet. */
export class RuleWatch {
  readonly #warnings: Warnings;
  /** Requests without a user so far, for the rules that never met one; Infinity for those that did. */
  readonly #strangers = new WeakMap<Rule, number>();
  /** The windows and limits of the requests so far, for the rules whose functions never gave one twice. */
  readonly #values = new WeakMap<Rule, Set<string> | 'fine'>();

  constructor(warnings: Warnings) {
    this.#warnings = warnings;
  }

  /** A USER rule met a request. */
  user(rule: Rule, isKnown: boolean): void {
    const strangers = this.#strangers.get(rule) ?? 0;
    if (strangers === Infinity) return;
    this.#strangers.set(rule, isKnown ? Infinity : strangers + 1);
    if (strangers + 1 === REQUESTS_TO_WARN_AT && !isKnown) this.#warnings.once('FLOODGATE_NO_USER', nameOf(rule));
  }

  /** A rule charges a request: a window or limit from a function is compared with those before. */
  values(rule: Rule, { windowMs, limit }: Charge): void {
    if (typeof rule.windowMs !== 'function' && typeof rule.limit !== 'function') return;
    let seen = this.#values.get(rule);
    if (seen === 'fine') return;
    if (!seen) this.#values.set(rule, (seen = new Set()));
    const value = `${windowMs} ${limit}`;
    const isNew = !seen.has(value);
    seen.add(value);
    if (isNew && seen.size < REQUESTS_TO_WARN_AT) return;
    this.#values.set(rule, 'fine');
    if (isNew) this.#warnings.once('FLOODGATE_CHANGING_RULE', nameOf(rule));
  }
}

const nameOf = (rule: Rule): string => `${rule.writtenOn} (${rule.label})`;
