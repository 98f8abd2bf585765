import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { Charge } from '../core/charge.ts';
import type { Allowed, Decision, Denied, Preview } from '../core/decision.ts';
import type { StoreEvent } from '../core/store-event.ts';
import type { StoreHealth } from '../core/store-health.ts';
import { patienceOf, type AcquireOptions, type ConsumeOptions } from './acquire-options.ts';
import { consumeUpTo, type Granted } from './consume-up-to.ts';
import type { DecisionEvent } from './decision-event.ts';
import type { RateLimitRules } from './rate-limit-rules.ts';
import { RateLimitException } from './rate-limit.exception.ts';
import type { RateLimiterParts } from './rate-limiter-parts.ts';
import type { RuleReference } from './reference-charges.ts';
import type { RuleCharge } from './rule-charges.ts';
import { renewWhenAsked } from './renewed-charges.ts';
import { unavailableAsException } from './unavailable-as-exception.ts';
import { withoutStackTrace } from './without-stack-trace.ts';

/**
 * Limits for code outside controllers, on the same budgets as the decorators.
 *
 * Every method takes a rule and the identity it is asked for: an address for an IP rule, a user id for a USER rule,
 * what the key function would give for a `key` rule. METHOD rules have one budget for everybody and take `''`. A rule
 * object without `type` counts by the identity given.
 */
@Injectable()
export class RateLimiter {
  readonly #parts: RateLimiterParts;
  readonly #startedAt = Date.now();

  /**
   * Changes in what the store can do, and warnings about how it is set up, as they are told in the log. A new
   * subscriber first gets what stands: the warnings so far, and `unavailable` while the store is. Completes when the
   * application closes.
   *
   * Subscribers are called at once, by the request that noticed; what one throws, or rejects with, is logged and harms
   * nobody. An `unavailable` whose error is of kind `full`, `wrong-type` or `cross-slot` is about single requests: told
   * at most once a minute, no change of state, and no `available` follows. Silent where the provider
   * `RATE_LIMIT_STORE` is overridden.
   */
  readonly storeEvents$: Observable<StoreEvent>;

  /**
   * What each rule decided, on requests and in the methods here that take from a budget: one event for each rule that admitted the call or, where
   * it was refused, for each that refused. Completes when the application closes.
   *
   * Subscribers are called at once, before the request goes on: they should only count, or put aside. What one throws, or
   * rejects with, is logged and harms nobody. While nobody subscribes, no event is made.
   */
  readonly decisions$: Observable<DecisionEvent>;

  /** Changes declared rules by their names while they are in force: see the option `liveRules`. */
  readonly rules: RateLimitRules;

  constructor(parts: RateLimiterParts) {
    this.#parts = parts;
    this.decisions$ = parts.decisions.decisions$;
    this.rules = parts.control;
    this.storeEvents$ = parts.events.from(() => this.health());
  }

  /**
   * Takes from the budget. A refusal is a `Denied`, not an exception. In shadow, and while limits are off, every call is
   * admitted at once, and its decision knows no budgets.
   *
   * @throws RateLimitUnavailableException when the store cannot answer and the rule's policy is `'deny'`; with
   *   `'allow'` the answer is `Allowed` and knows no budgets
   */
  async consume(rule: RuleReference, identity: string, options: ConsumeOptions = {}): Promise<Decision> {
    const { nextId, decisions, blocks, spared } = this.#parts;
    const id = nextId();
    const charged = this.#parts.charges.of(rule, identity, options.cost);
    const answer = spared.answer(charged, id);
    if (answer) return answer;
    const ask = (): Promise<Decision> => blocks.consume({ id, charges: chargesOf(charged) }, charged);
    const { decision } = await unavailableAsException(decisions.observe(charged, ask));
    return decision;
  }

  /**
   * Takes from the budget as soon as it has room, first come first served among the calls of this process that wait
   * for it. Between processes, and with {@link consume}, whoever asks first gets it. Redis is not polled: who waits asks
   * at the moment that a refusal told, and up to 1 % of the window (100 ms at most) later, so that processes come one
   * after another.
   *
   * `Denied` as soon as it is clear that the turn comes later than `maxWait`, if nobody gives anything back, or when
   * `maxQueued` wait already, or when the rule blocks this identity, now or while it waits; `retryAfterMs` then is the earliest moment of
   * this call's turn. A call that waits keeps the process alive, and asks again when a rule is changed.
   *
   * @throws the signal's reason when it is aborted; what was taken for the call meanwhile is given back
   * @throws RateLimitUnavailableException as `consume`, and when the application closes
   */
  async acquire(rule: RuleReference, identity: string, options: AcquireOptions = {}): Promise<Decision> {
    const { nextId, decisions, blocks, waiting, charges, spared } = this.#parts;
    const patience = patienceOf(options);
    const charged = charges.of(rule, identity, options.cost);
    patience.signal?.throwIfAborted();
    const answer = spared.answer(charged, nextId());
    if (answer) return answer;
    const [{ charge }] = charged;
    renewWhenAsked(charge, () => charges.of(rule, identity, options.cost));
    const wait = (): Promise<Decision> => blocks.unlessBlocked(charged[0], () => waiting.acquire(charge, patience));
    const { decision } = await unavailableAsException(decisions.observe(charged, wait));
    return decision;
  }

  /**
   * Waits as {@link acquire} does, then calls the function and gives its result. What was taken stays taken when the
   * function fails.
   *
   * @throws RateLimitException when denied, without a call of the function; and what `acquire` and the function throw
   */
  async schedule<T>(
    rule: RuleReference,
    identity: string,
    call: () => T | Promise<T>,
    options: AcquireOptions = {},
  ): Promise<T> {
    const decision = await this.acquire(rule, identity, options);
    if (decision.allowed) return call();
    throw withoutStackTrace(() => new RateLimitException(decision, this.#parts.charges.messageOf(rule)));
  }

  /**
   * Takes as many of so many units as there is room for at that moment, at least one: `granted` says how many. `Denied`
   * when there is no room for one, until `retryAfterMs`. One call takes at most the limit (with
   * `warmUp`, that of a cold start), and 128 with `exact: true`.
   *
   * @throws RateLimitUnavailableException as `consume`
   */
  async consumeUpTo(rule: RuleReference, identity: string, units: number): Promise<Granted | Denied> {
    const { nextId, decisions, blocks, store, spared } = this.#parts;
    const [first, ...formers] = this.#parts.charges.of(rule, identity, units);
    const { charge } = first;
    const charged = { ...first };
    if (charge.cost === 0) throw new TypeError('RateLimiter: units to take must be 1 or more, got 0');
    const answer = spared.answer([first, ...formers], nextId(), { granted: charge.cost });
    if (answer) return answer;
    const take = async (): Promise<Granted | Denied> => {
      const decision = await consumeUpTo(store, charge, nextId, chargesOf(formers));
      charged.charge = { ...charge, cost: decision.allowed ? decision.granted : 1 };
      return decision;
    };
    const { decision } = await unavailableAsException(
      decisions.observe([charged, ...formers], () => blocks.unlessBlocked(charged, take)),
    );
    return decision;
  }

  /** What {@link consume} would answer now. Takes nothing. */
  async peek(rule: RuleReference, identity: string, options: ConsumeOptions = {}): Promise<Preview> {
    const charged = this.#parts.charges.of(rule, identity, options.cost);
    if (charged[0].isShadow || !this.#parts.limits.isOn) return { allowed: true, budgets: [] };
    return unavailableAsException(this.#parts.blocks.peek(charged));
  }

  /** Gives back what this decision took. @throws StoreUnavailableError when the store cannot */
  async refund(decision: Allowed): Promise<void> {
    const { id, budgets, receipt } = decision;
    await this.#parts.spared.giveBack(decision);
    if (budgets.length > 0) await this.#parts.store.refund({ id, charges: budgets, receipt });
  }

  /** Makes the budget whole and ends the rule's block, also while limits are off. @throws StoreUnavailableError */
  async reset(rule: RuleReference, identity: string): Promise<void> {
    const charged = this.#parts.charges.of(rule, identity);
    const { limits, store, blocks } = this.#parts;
    if (limits.hasStore) await store.reset(charged.flatMap((each) => blocks.logsOf(each)));
  }

  /**
   * The kill switch: from now on nothing is limited in this process, nor charged, until {@link enable}. Requests whose
   * rules were decided in part are let through; calls that wait for their turn go on waiting.
   */
  disable(): void {
    this.#parts.limits.turnOff();
  }

  /** Undoes {@link disable}. What was not charged meanwhile is not counted afterwards. */
  enable(): void {
    this.#parts.limits.turnOn();
  }

  /** Whether limits apply now: neither switched off by {@link disable}, nor by the option `enabled`. */
  get isEnabled(): boolean {
    return this.#parts.limits.isOn;
  }

  /**
   * How the store does, by the calls there were; asks it nothing. Where no requests come (a readiness probe failed, say),
   * only a call finds out that it answers again: `RateLimitHealthIndicator` makes one. A store that the provider
   * `RATE_LIMIT_STORE` was overridden with, and that has no `health()`, is available since the start.
   */
  health(): StoreHealth {
    const { store } = this.#parts;
    return 'health' in store ? store.health() : { state: 'available', since: this.#startedAt, circuit: 'closed' };
  }
}

const chargesOf = (charged: readonly RuleCharge[]): readonly Charge[] => charged.map(({ charge }) => charge);
