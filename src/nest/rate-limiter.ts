import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { MAX_LIMIT } from '../core/charge.ts';
import type { Allowed, Decision, Preview } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { show } from '../core/show.ts';
import type { StoreEvent } from '../core/store-event.ts';
import type { StoreHealth, SupervisedStore } from '../core/store-health.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import { clientAddress } from '../transports/client-address.ts';
import type { DecisionEvent } from './decision-event.ts';
import type { DecisionStream } from './decision-stream.ts';
import { RateLimitUnavailableException } from './rate-limit-unavailable.exception.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { RuleCharge } from './rule-charges.ts';
import type { StandaloneRule } from './standalone-rule.ts';
import type { StoreEventStream } from './store-event-stream.ts';
import { ruleKey } from './rule-key.ts';

/** A declared rule by its name, or a rule of its own with a name or a bucket. */
export type RuleReference = string | StandaloneRule;

/** What a call says besides its rule and identity. */
export interface ConsumeOptions {
  /** Units taken; 0 takes nothing, and is refused while there is no room for one. @default the rule's cost */
  readonly cost?: number;
}

interface Parts {
  readonly store: RateLimitStore | SupervisedStore;
  readonly events: StoreEventStream;
  readonly decisions: DecisionStream;
  readonly rules: RuleBook;
  readonly nextId: () => string;
  readonly ipv6Prefix: number;
  readonly enabled: boolean;
}

/**
 * Limits for code outside controllers, on the same budgets as the decorators.
 *
 * Every method takes a rule and the identity it is asked for: an address for an IP rule, a user id for a USER rule,
 * what the key function would give for a `key` rule. METHOD rules have one budget for everybody and take `''`. A rule
 * object without `type` counts by the identity given.
 */
@Injectable()
export class RateLimiter {
  readonly #parts: Parts;
  readonly #standalone = new WeakMap<StandaloneRule, Rule>();
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
   * What each rule decided, on requests and in {@link consume}: one event for each rule that admitted the call or, where
   * it was refused, for each that refused. Completes when the application closes.
   *
   * Subscribers are called at once, before the request goes on: they should only count, or put aside. What one throws, or
   * rejects with, is logged and harms nobody. While nobody subscribes, no event is made.
   */
  readonly decisions$: Observable<DecisionEvent>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.decisions$ = parts.decisions.decisions$;
    this.storeEvents$ = parts.events.from(() => this.health());
  }

  /**
   * Takes from the budget. A refusal is a `Denied`, not an exception.
   *
   * @throws RateLimitUnavailableException when the store cannot answer and the rule's policy is `'deny'`; with
   *   `'allow'` the answer is `Allowed` and knows no budgets
   */
  async consume(rule: RuleReference, identity: string, options: ConsumeOptions = {}): Promise<Decision> {
    const { nextId, enabled, decisions, store } = this.#parts;
    const id = nextId();
    const charged = this.#charged(rule, identity, options);
    if (!enabled) return { allowed: true, id, budgets: [] };
    const ask = (): Promise<Decision> => store.consume({ id, charges: [charged.charge] });
    const { decision } = await unavailableAsException(decisions.observe([charged], ask));
    return decision;
  }

  /** What {@link consume} would answer now. Takes nothing. */
  async peek(rule: RuleReference, identity: string, options: ConsumeOptions = {}): Promise<Preview> {
    const { charge } = this.#charged(rule, identity, options);
    if (!this.#parts.enabled) return { allowed: true, budgets: [] };
    return unavailableAsException(this.#parts.store.peek([charge]));
  }

  /** Gives back what this decision took. @throws StoreUnavailableError when the store cannot */
  async refund({ id, budgets, receipt }: Allowed): Promise<void> {
    if (budgets.length > 0) await this.#parts.store.refund({ id, charges: budgets, receipt });
  }

  /** Makes the budget whole. @throws StoreUnavailableError when the store cannot */
  async reset(rule: RuleReference, identity: string): Promise<void> {
    const { charge } = this.#charged(rule, identity, {});
    if (this.#parts.enabled) await this.#parts.store.reset([charge]);
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

  #charged(reference: RuleReference, identity: string, options: ConsumeOptions): RuleCharge {
    const rule = typeof reference === 'string' ? this.#declared(reference) : this.#given(reference);
    const { windowMs, limit, layout, label, onStoreError, kind, writtenOn } = rule;
    const cost = options.cost ?? rule.cost;
    if (typeof windowMs !== 'number' || typeof limit !== 'number' || typeof cost === 'function') {
      throw new TypeError(
        `${writtenOn} (${label}): window, limit and cost must be values here, not functions of a request`,
      );
    }
    const parsed = parseWholeNumber(cost, MAX_LIMIT, 0);
    if ('fault' in parsed) throw new TypeError(`${writtenOn} (${label}): cost ${parsed.fault}, got ${show(cost)}`);
    const key = ruleKey(rule, { kind, value: this.#identityValue(rule, identity) });
    const isAlwaysTracked = kind === 'method';
    const charge = { key, limit, windowMs, cost: parsed.value, layout, rule: label, onStoreError, isAlwaysTracked };
    return { rule, charge };
  }

  #identityValue({ kind, place, label, writtenOn }: Rule, identity: string): string {
    if (kind === 'method') return place;
    if (typeof identity !== 'string' || identity === '') {
      throw new TypeError(
        `${writtenOn} (${label}): identity must be a string that is not empty, got ${show(identity)}`,
      );
    }
    return kind === 'ip' ? clientAddress(identity, this.#parts.ipv6Prefix) : identity;
  }

  #declared(name: string): Rule {
    const [rule, ...others] = this.#parts.rules.named(name);
    if (!rule) throw new TypeError(`no rule is named ${show(name)}`);
    const isSame = (other: Rule): boolean =>
      (['kind', 'place', 'suffix', 'windowMs', 'limit', 'cost', 'layout'] as const).every(
        (part) => other[part] === rule[part],
      );
    if (!others.every(isSame))
      throw new TypeError(
        `several rules are named ${show(name)}, which differ: give those that share a budget one bucket, and one limit`,
      );
    return rule;
  }

  #given(options: StandaloneRule): Rule {
    let rule = this.#standalone.get(options);
    if (!rule) this.#standalone.set(options, (rule = this.#parts.rules.standalone(options)));
    return rule;
  }
}

async function unavailableAsException<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof StoreUnavailableError ? new RateLimitUnavailableException(error) : error;
  }
}
