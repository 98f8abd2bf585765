import { Injectable, Logger } from '@nestjs/common';
import type { Rule } from './rule.ts';

const QUIET_MS = 60_000;

/** Faults that requests can cause: told once a minute for each rule, since clients choose how often they happen. */
@Injectable()
export class RuleLog {
  readonly #logger = new Logger('RateLimit');
  readonly #toldAt = new WeakMap<Rule, number>();
  /** When a rule was warned of last, and how often it was to be since. */
  readonly #warned = new WeakMap<Rule, { readonly at: number; more: number }>();

  error(rule: Rule, message: string): void {
    const now = performance.now();
    if (now - (this.#toldAt.get(rule) ?? -Infinity) < QUIET_MS) return;
    this.#toldAt.set(rule, now);
    this.#logger.error(`${rule.writtenOn} (${rule.label}): ${message}`);
  }

  /** What is no fault, as rarely, and how often it happened meanwhile. */
  warn(rule: Rule, message: string): void {
    const now = performance.now();
    const last = this.#warned.get(rule);
    if (last && now - last.at < QUIET_MS) {
      last.more++;
      return;
    }
    this.#warned.set(rule, { at: now, more: 0 });
    const more = last && last.more > 0 ? `, and ${last.more} more since this was told last` : '';
    this.#logger.warn(`${rule.writtenOn} (${rule.label}): ${message}${more}`);
  }
}
