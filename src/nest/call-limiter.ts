import { withoutStackTrace } from './without-stack-trace.ts';
import type { CallRules } from './call-rules.ts';
import type { CallSite, SiteLimiter } from './call-site.ts';
import { RateLimitException } from './rate-limit.exception.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { ReferenceCharges, RuleReference } from './reference-charges.ts';

interface Parts {
  readonly limiter: RateLimiter;
  readonly charges: ReferenceCharges;
  readonly calls: CallRules;
}

/** Takes what a call of a method with `@LimitCalls` costs. */
export class CallLimiter implements SiteLimiter {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws RateLimitException when the call is refused; and what the functions of the options throw */
  async take(site: CallSite, args: readonly unknown[]): Promise<void> {
    const { limiter, charges, calls } = this.#parts;
    if (!limiter.isEnabled) return;
    // The charges of the service know the rules of calls by themselves.
    const rule = calls.at(site) as RuleReference;
    const { key, wait, maxQueued, signal } = site.options;
    const given = args as never[];
    const identity = key ? key(...given) : '';
    const cost = typeof site.options.cost === 'function' ? site.options.cost(...given) : undefined;
    const decision = await (wait === undefined
      ? limiter.consume(rule, identity, { cost })
      : limiter.acquire(rule, identity, { cost, maxWait: wait, maxQueued, signal: signal?.(...given) }));
    if (!decision.allowed) throw withoutStackTrace(() => new RateLimitException(decision, charges.messageOf(rule)));
  }
}
