import { ForbiddenException, type ExecutionContext } from '@nestjs/common';
import { isAffordable, maxExactLimit, type Charge } from '../core/charge.ts';
import { describeError } from '../core/show.ts';
import { Answers } from './answers.ts';
import type { LiveRules } from './live-rules.ts';
import type { FormerRule } from './rule-succession.ts';
import { MissingAddressError, type AnonymousPolicy, type Identifier, type Identity } from './identity.ts';
import { layoutFor } from './outcome.ts';
import { RateLimitUnavailableException } from './rate-limit-unavailable.exception.ts';
import { isEnforcedFor } from './enforced-share.ts';
import type { Rule } from './rule.ts';
import { ruleKey } from './rule-key.ts';
import { exactBorder } from './warm-up-option.ts';
import type { RuleLog } from './rule-log.ts';
import type { RuleWatch } from './rule-watch.ts';
import type { KnownMoment, Spared } from './shadow-moment.ts';

/** A rule and what it charges a request. */
export interface RuleCharge {
  readonly rule: Rule;
  readonly charge: Charge;
  /** Whether it is in shadow: judged, and never refused. */
  readonly isShadow?: boolean;
}

type Judged = RuleCharge | 'later' | 'not applicable';

/** Finds what rules charge a request: their functions asked, its identity found, its key built. */
export class RuleCharges {
  readonly #identifier: Identifier;
  readonly #anonymous: AnonymousPolicy;
  readonly #log: RuleLog;
  readonly #watch: RuleWatch;
  readonly #live: LiveRules;

  constructor(identifier: Identifier, anonymous: AnonymousPolicy, log: RuleLog, watch: RuleWatch, live: LiveRules) {
    this.#identifier = identifier;
    this.#anonymous = anonymous;
    this.#log = log;
    this.#watch = watch;
    this.#live = live;
  }

  /**
   * @param later takes the rules that have no identity yet, where there is a later moment to decide them
   * @param moment there if functions were asked before, or a rule is not enforced for everybody: takes those that are
   *   not for this request
   * @throws ForbiddenException for a request without identity where `identity.anonymous` is `'deny'`, and
   *   RateLimitUnavailableException where a function failed and the rule's policy is `'deny'`, or where there is no
   *   client address to go by
   */
  async of(
    rules: readonly Rule[],
    context: ExecutionContext,
    later?: Rule[],
    moment?: KnownMoment,
  ): Promise<readonly RuleCharge[]> {
    const found: RuleCharge[] = [];
    let answers = moment?.answers;
    const spared = moment?.spared;
    for (const written of rules) {
      const live = this.#live.size > 0 ? this.#live.of(written) : undefined;
      const rule = live?.rule ?? written;
      const mayWait = later !== undefined && rule.when === undefined;
      if (rule.hasFunctions || this.#identifier.asksFor(rule)) answers ??= new Answers(context);
      const sparedBefore = spared?.length;
      const judged = await this.#judge(rule, context, mayWait, answers, spared);
      if (judged === 'later') later!.push(written);
      else if (judged !== 'not applicable') found.push(judged);
      if (live && spared && spared.length !== sparedBefore) spared.push({ ...spared.pop()!, formers: live.formers });
      if (live && live.formers.length > 0 && typeof judged === 'object') {
        answers ??= new Answers(context);
        await this.#addFormers(found, judged, live.formers, answers);
      }
    }
    return found;
  }

  /**
   * What is charged in shadow: what cannot be judged is told in the log and harms nobody.
   *
   * @param later takes the rules that may be judged at a later moment and cannot be now
   */
  async inShadow(spared: readonly Spared[], answers: Answers, later?: Rule[]): Promise<readonly RuleCharge[]> {
    const found: RuleCharge[] = [];
    for (const { rule, identity, formers = [] } of spared) {
      try {
        const charged = { rule, charge: await this.#charge(rule, identity, answers, true), isShadow: true };
        found.push(charged);
        await this.#addFormers(found, charged, formers, answers);
      } catch (error) {
        if (later && rule.when === undefined) later.push(rule);
        else this.#giveUp(rule, error, false);
      }
    }
    return found;
  }

  /**
   * @param answers there if the rule or its identity has functions to be asked
   * @param spared there if the rule is not enforced for everybody
   */
  async #judge(
    rule: Rule,
    context: ExecutionContext,
    mayWait: boolean,
    answers: Answers | undefined,
    spared: Spared[] | undefined,
  ): Promise<Judged> {
    let identity: Identity | undefined;
    // Without an identity, a rule that is enforced for some is not enforced.
    let isEnforced = rule.enforcePercent === 100;
    try {
      if (rule.skip && (await answers!.of(rule.skip))) return 'not applicable';
      identity = await this.#identifier.identify(rule, context, answers);
      if (rule.kind === 'user') this.#watch.user(rule, identity !== undefined);
      if (!identity && !mayWait && this.#anonymous === 'ip') identity = this.#identifier.anonymous(rule, context);
      if (identity) {
        isEnforced ||= isEnforcedFor(rule, identity);
        if (isEnforced) return { rule, charge: await this.#charge(rule, identity, answers) };
        // It may have gone into shadow since this request began.
        spared?.push({ rule, identity });
        return 'not applicable';
      }
    } catch (error) {
      // Before the guards, a function may fail for want of what they find (`request.user.tenant`).
      if (mayWait) return 'later';
      return this.#giveUp(rule, error, isEnforced);
    }
    if (mayWait) return 'later';
    if (isEnforced && this.#anonymous === 'deny')
      throw new ForbiddenException('This request does not say whose it is.');
    return 'not applicable';
  }

  /** What the rules charge whose place this one took while their windows pass: on the same key, in logs of their own. */
  async #addFormers(
    found: RuleCharge[],
    charged: RuleCharge,
    formers: readonly FormerRule[],
    answers: Answers,
  ): Promise<void> {
    try {
      for (const { rule: former } of formers) {
        const limit = typeof former.limit === 'function' ? await former.limit(answers) : former.limit;
        const cost = typeof former.cost === 'function' ? await former.cost(answers) : former.cost;
        const { warmUp } = former;
        const layout = former.layout ?? layoutFor(former.count, limit, cost, warmUp);
        const ofFormer: Charge = {
          ...charged.charge,
          limit,
          windowMs: former.windowMs as number,
          cost,
          layout,
          warmUp,
        };
        found.push({ ...charged, charge: ofFormer });
      }
    } catch (error) {
      this.#giveUp(charged.rule, error, !charged.isShadow);
    }
  }

  async #charge(rule: Rule, identity: Identity, answers: Answers | undefined, isShadow = false): Promise<Charge> {
    const { label, layout, warmUp } = rule;
    const limit = typeof rule.limit === 'function' ? await rule.limit(answers!) : rule.limit;
    const windowMs = typeof rule.windowMs === 'function' ? await rule.windowMs(answers!) : rule.windowMs;
    const cost = typeof rule.cost === 'function' ? await rule.cost(answers!) : rule.cost;
    const charge: Charge = {
      key: ruleKey(rule, identity, isShadow),
      limit,
      windowMs,
      cost,
      layout: layout ?? layoutFor(rule.count, limit, cost, warmUp),
      warmUp,
      rule: label,
      // In shadow nothing is decided while the store cannot, so that it takes no memory of what is.
      onStoreError: isShadow ? 'allow' : rule.onStoreError,
      isAlwaysTracked: identity.kind === 'method',
    };
    if (layout === 'exact' && charge.limit > maxExactLimit(warmUp)) {
      throw new TypeError(`limit must not be above ${exactBorder(warmUp)}, got ${charge.limit}`);
    }
    this.#watch.values(rule, charge);
    if (!isAffordable(charge)) {
      const outcome = isShadow ? 'it would be refused' : 'refused';
      this.#log.error(rule, `a cost of ${charge.cost} is more than it ever admits: ${outcome}`);
    }
    return charge;
  }

  #giveUp(rule: Rule, error: unknown, isEnforced: boolean): 'not applicable' {
    const isRefused = isEnforced && (rule.onStoreError === 'deny' || error instanceof MissingAddressError);
    const outcome = isRefused ? 'refused as unavailable' : 'not limited by it';
    this.#log.error(rule, `cannot be judged, the request is ${outcome}: ${describeError(error)}`);
    if (isRefused) throw new RateLimitUnavailableException(error);
    return 'not applicable';
  }
}
