import { Injectable, Logger } from '@nestjs/common';
import type { Rule } from './rule.ts';

const QUIET_MS = 60_000;

/** Faults that requests can cause: told once a minute for each rule, since clients choose how often they happen. */
@Injectable()
export class RuleLog {
  readonly #logger = new Logger('RateLimit');
  readonly #toldAt = new WeakMap<Rule, number>();

  error(rule: Rule, message: string): void {
    const now = performance.now();
    if (now - (this.#toldAt.get(rule) ?? -Infinity) < QUIET_MS) return;
    this.#toldAt.set(rule, now);
    this.#logger.error(`${rule.writtenOn} (${rule.label}): ${message}`);
  }
}
