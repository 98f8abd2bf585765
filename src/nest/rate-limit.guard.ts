import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Transport } from '../transports/transport.ts';
import { afterAllGuards, beginInvocation } from './late-guard.ts';
import { RequestLimiter } from './request-limiter.ts';
import { RuleBook, type HandlerRules } from './rule-book.ts';
import { TRANSPORT } from './tokens.ts';

/**
 * Applies the rules of each handler. `RateLimitModule.forRoot` binds it before all other guards, and what has to wait
 * for them is decided after them; with `guard: 'manual'` it decides everything where the application places it. Met
 * twice on the way to a handler, it charges once.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  readonly #transport: Transport;
  readonly #rules: RuleBook;
  readonly #limiter: RequestLimiter;

  constructor(
    @Inject(TRANSPORT) transport: Transport,
    @Inject(RuleBook) rules: RuleBook,
    @Inject(RequestLimiter) limiter: RequestLimiter,
  ) {
    this.#transport = transport;
    this.#rules = rules;
    this.#limiter = limiter;
  }

  /** @throws RateLimitException when a rule refuses the request */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (!this.#transport.carries(context)) return true;
    const rules = this.#rules.rulesFor(context);
    if (!rules || !beginInvocation(context)) return true;
    return this.#decide(rules, context);
  }

  async #decide({ early, late, hasLateMoment }: HandlerRules, context: ExecutionContext): Promise<true> {
    const waiting = [...late];
    const decision = await this.#limiter.decide(early, context, hasLateMoment ? waiting : undefined);
    if (waiting.length > 0) {
      afterAllGuards(context, () => this.#limiter.decideLate(waiting, context, decision));
    }
    return true;
  }
}
