import type { ExecutionContext } from '@nestjs/common';
import type { Transport } from '../transports/transport.ts';
import type { HandlerRules } from './rules-by-handler.ts';
import { afterAllGuards, beginInvocation } from './late-guard.ts';
import type { AwaitedOutcome, OutcomeRefunds } from './outcome-refunds.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { RuleDecider, Taken } from './rule-decider.ts';

interface Parts {
  readonly transport: Transport;
  readonly rules: RuleBook;
  readonly decider: RuleDecider;
  readonly outcomes: OutcomeRefunds;
  /** Milliseconds that all store calls of a request may take together. */
  readonly deadlineMs: number;
}

/** What the earlier moment leaves to the later one. */
interface Earlier {
  /** Milliseconds that are left for the store. */
  readonly withinMs: number;
  readonly taken: Taken | undefined;
  readonly awaited: AwaitedOutcome | undefined;
  readonly hasOutcome: boolean;
}

/** Leads a request through the moments at which its rules are decided. */
export class RequestLimiter {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** True, or the promise of it, when nothing keeps the request out so far; what is left to the late guard comes later. */
  admit(context: ExecutionContext): true | Promise<true> {
    if (!this.#parts.transport.carries(context)) return true;
    const rules = this.#parts.rules.rulesFor(context);
    if (!rules || !beginInvocation(context)) return true;
    return this.#decideEarly(rules, context);
  }

  async #decideEarly(handlerRules: HandlerRules, context: ExecutionContext): Promise<true> {
    const { early, late, hasLateMoment, hasOutcome } = handlerRules;
    const { decider, outcomes, deadlineMs } = this.#parts;
    const waiting = [...late];
    const moment = { rules: early, later: hasLateMoment ? waiting : undefined, withinMs: deadlineMs };
    const taken = await decider.decide(moment, context);
    const awaited = hasOutcome && taken ? outcomes.follow(context, taken) : undefined;
    if (waiting.length > 0) {
      const withinMs = deadlineMs - (taken?.tookMs ?? 0);
      afterAllGuards(context, () => this.#decideLate(waiting, context, { withinMs, taken, awaited, hasOutcome }));
    }
    return true;
  }

  /** What was taken early is given back when this moment does not admit the request. */
  async #decideLate(
    rules: readonly Rule[],
    context: ExecutionContext,
    { withinMs, taken, awaited, hasOutcome }: Earlier,
  ): Promise<void> {
    const { decider, outcomes } = this.#parts;
    let late: Taken | undefined;
    try {
      late = await decider.decide({ rules, withinMs, earlier: taken?.decision.budgets }, context);
    } catch (error) {
      awaited?.drop();
      if (taken) decider.giveBack(taken);
      throw error;
    }
    if (!hasOutcome || !late) return;
    if (awaited) awaited.add(late);
    else outcomes.follow(context, late);
  }
}
