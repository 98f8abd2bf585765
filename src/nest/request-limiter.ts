import type { ExecutionContext } from '@nestjs/common';
import type { Transport } from '../transports/transport.ts';
import { Answers } from './answers.ts';
import type { ClientLists } from './client-lists.ts';
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
  /** Undefined where they name nobody. */
  readonly lists: ClientLists | undefined;
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

const AFTER_GUARDS = { isFirst: false, isLast: true };

/** Leads a request through the moments at which its rules are decided. */
export class RequestLimiter {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** True, or the promise of it, when nothing keeps the request out so far; what is left to the late guard comes later. */
  admit(context: ExecutionContext): true | Promise<true> {
    if (!this.#parts.transport.carries(context)) return true;
    const rules = this.#parts.rules.handlers.rulesFor(context);
    if (!rules || !beginInvocation(context) || !this.#parts.limits.isOn) return true;
    const { lists } = this.#parts;
    return lists ? this.#admitUnlisted(lists, rules, context) : this.#decideEarly(rules, context);
  }

  /** Those who are allowed are judged by no rule, but may be denied when their user is known. */
  async #admitUnlisted(lists: ClientLists, rules: HandlerRules, context: ExecutionContext): Promise<true> {
    const answers = new Answers(context);
    const moment = { isFirst: true, isLast: !rules.hasLateMoment };
    if (!(await lists.allows(context, answers, moment))) return this.#decideEarly(rules, context, answers);
    if (rules.hasLateMoment && lists.deniesLate) {
      afterAllGuards(context, () => lists.refuseDenied(context, new Answers(context), AFTER_GUARDS));
    }
    return true;
  }

  /** @param answers what functions said at this moment, if some were asked before */
  async #decideEarly(handlerRules: HandlerRules, context: ExecutionContext, answers?: Answers): Promise<true> {
    const { early, late, hasLateMoment, hasOutcome, shadow } = handlerRules;
    const { decider, outcomes, shadows, lists, deadlineMs } = this.#parts;
    const waiting = [...late];
    const inShadow = shadow && { request: shadows(context), late: shadow.late };
    const moment = inShadow?.request.moment(answers);
    const known = moment ?? (answers && { answers });
    const later = hasLateMoment ? waiting : undefined;
    const taken = await decider.decide({ rules: early, later, withinMs: deadlineMs, known }, context);
    const awaited = hasOutcome && (taken ?? inShadow) ? outcomes.follow(context, taken, !inShadow) : undefined;
    inShadow?.request.judge(shadow!.early, moment!, { hasLater: hasLateMoment, awaited });
    if (waiting.length > 0 || (hasLateMoment && (inShadow ?? lists?.judgesLate))) {
      const withinMs = deadlineMs - (taken?.tookMs ?? 0);
      const earlier = { withinMs, taken, awaited, hasOutcome, inShadow };
      afterAllGuards(context, () => this.#decideLate(waiting, context, earlier));
    }
    return true;
  }

  /** What was taken early is given back when this moment does not admit the request, or no rule is to judge it. */
  async #decideLate(rules: readonly Rule[], context: ExecutionContext, earlier: Earlier): Promise<void> {
    const { decider, outcomes, limits, lists } = this.#parts;
    const { withinMs, taken, awaited, hasOutcome, inShadow } = earlier;
    if (limits.isSwitchedOff) return;
    const answers = lists?.judgesLate ? new Answers(context) : undefined;
    if (answers && (await this.#isAllowedLate(lists!, context, answers, earlier))) return;
    const shadow = inShadow?.request.moment(answers);
    const known = shadow ?? (answers && { answers });
    let late: Taken | undefined;
    try {
      const moment = { rules, withinMs, earlier: taken?.decision.budgets, known };
      if (rules.length > 0) late = await decider.decide(moment, context);
    } catch (error) {
      this.#giveBack(earlier);
      throw error;
    }
    inShadow?.request.judge(inShadow.late, shadow!, { hasLater: false, awaited });
    if (!hasOutcome || !late) return;
    if (awaited) awaited.add(late);
    else outcomes.follow(context, late);
  }

  /**
   * Leaves no trace of what was decided early where the lists name the client.
   *
   * @throws ForbiddenException when it is denied
   */
  async #isAllowedLate(
    lists: ClientLists,
    context: ExecutionContext,
    answers: Answers,
    earlier: Earlier,
  ): Promise<boolean> {
    const forget = (): void => {
      this.#giveBack(earlier);
      if (earlier.taken) this.#parts.decider.withdraw(earlier.taken, context);
    };
    try {
      const isAllowed = await lists.allows(context, answers, AFTER_GUARDS);
      if (isAllowed) forget();
      return isAllowed;
    } catch (error) {
      forget();
      throw error;
    }
  }

  #giveBack({ taken, awaited, inShadow }: Earlier): void {
    awaited?.drop();
    if (taken) this.#parts.decider.giveBack(taken);
    inShadow?.request.giveBack();
  }
}
