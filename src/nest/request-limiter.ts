import type { ExecutionContext } from '@nestjs/common';
import type { Transport } from '../transports/transport.ts';
import type { HandlerRules } from './rules-by-handler.ts';
import { afterAllGuards, beginInvocation } from './late-guard.ts';
import type { AwaitedOutcome, OutcomeRefunds } from './outcome-refunds.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { LimitSwitch } from './limit-switch.ts';
import type { RuleDecider, Taken } from './rule-decider.ts';
import type { ShadowRequest } from './shadow-request.ts';

interface Parts {
  readonly transport: Transport;
  readonly rules: RuleBook;
  readonly decider: RuleDecider;
  readonly outcomes: OutcomeRefunds;
  readonly shadows: (context: ExecutionContext) => ShadowRequest;
  readonly limits: LimitSwitch;
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
  /** There if a rule is not enforced for everybody: with the rules in shadow that are judged after the guards. */
  readonly inShadow: { readonly request: ShadowRequest; readonly late: readonly Rule[] } | undefined;
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
    if (!rules || !beginInvocation(context) || !this.#parts.limits.isOn) return true;
    return this.#decideEarly(rules, context);
  }

  async #decideEarly(handlerRules: HandlerRules, context: ExecutionContext): Promise<true> {
    const { early, late, hasLateMoment, hasOutcome, shadow } = handlerRules;
    const { decider, outcomes, shadows, deadlineMs } = this.#parts;
    const waiting = [...late];
    const inShadow = shadow && { request: shadows(context), late: shadow.late };
    const moment = inShadow?.request.moment();
    const later = hasLateMoment ? waiting : undefined;
    const taken = await decider.decide({ rules: early, later, withinMs: deadlineMs, shadow: moment }, context);
    const awaited = hasOutcome && (taken ?? inShadow) ? outcomes.follow(context, taken, !inShadow) : undefined;
    inShadow?.request.judge(shadow!.early, moment!, { hasLater: hasLateMoment, awaited });
    if (waiting.length > 0 || (inShadow && hasLateMoment)) {
      const withinMs = deadlineMs - (taken?.tookMs ?? 0);
      const earlier = { withinMs, taken, awaited, hasOutcome, inShadow };
      afterAllGuards(context, () => this.#decideLate(waiting, context, earlier));
    }
    return true;
  }

  /** What was taken early is given back when this moment does not admit the request. */
  async #decideLate(
    rules: readonly Rule[],
    context: ExecutionContext,
    { withinMs, taken, awaited, hasOutcome, inShadow }: Earlier,
  ): Promise<void> {
    const { decider, outcomes, limits } = this.#parts;
    if (limits.isSwitchedOff) return;
    const shadow = inShadow?.request.moment();
    let late: Taken | undefined;
    try {
      const earlier = taken?.decision.budgets;
      if (rules.length > 0) late = await decider.decide({ rules, withinMs, earlier, shadow }, context);
    } catch (error) {
      awaited?.drop();
      if (taken) decider.giveBack(taken);
      inShadow?.request.giveBack();
      throw error;
    }
    inShadow?.request.judge(inShadow.late, shadow!, { hasLater: false, awaited });
    if (!hasOutcome || !late) return;
    if (awaited) awaited.add(late);
    else outcomes.follow(context, late);
  }
}
