import type { ExecutionContext } from '@nestjs/common';
import { logName } from '../core/charge.ts';
import type { Allowed, Denied } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { legacyHeaders, retryAfterHeader, type HeaderFields } from '../transports/rate-limit-headers.ts';
import type { Transport } from '../transports/transport.ts';
import { RULE_DEFAULTS } from './compile-rule.ts';
import { RateLimitException } from './rate-limit.exception.ts';
import { RateLimitUnavailableException } from './rate-limit-unavailable.exception.ts';
import type { Rule } from './rule.ts';
import type { RuleCharge, RuleCharges } from './rule-charges.ts';
import type { RuleLog } from './rule-log.ts';

/** Told to clients that were refused because the store could not answer. */
const UNAVAILABLE_RETRY_MS = 1_000;

interface Parts {
  readonly store: RateLimitStore;
  readonly transport: Transport;
  readonly charges: RuleCharges;
  readonly log: RuleLog;
  readonly nextId: () => string;
  /** Whether answers carry header fields besides `Retry-After`. */
  readonly hasHeaders: boolean;
}

/** Decides the rules of one request, at one moment or at two. */
export class RequestLimiter {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @param later takes the rules that have no identity yet, where there is a later moment
   * @returns the decision, or undefined when nothing was to be decided
   * @throws RateLimitException for a refusal; RateLimitUnavailableException or ForbiddenException by policy
   */
  async decide(rules: readonly Rule[], context: ExecutionContext, later?: Rule[]): Promise<Allowed | undefined> {
    return this.#decide(rules, context, undefined, later);
  }

  /** The second moment: what was taken at the first is given back when this one does not admit the request. */
  async decideLate(rules: readonly Rule[], context: ExecutionContext, earlier: Allowed | undefined): Promise<void> {
    try {
      await this.#decide(rules, context, earlier);
    } catch (error) {
      if (earlier && earlier.budgets.length > 0) await this.#giveBack(earlier);
      throw error;
    }
  }

  async #decide(
    rules: readonly Rule[],
    context: ExecutionContext,
    earlier?: Allowed,
    later?: Rule[],
  ): Promise<Allowed | undefined> {
    const charged = await this.#charges(rules, context, later);
    if (charged.length === 0) return undefined;
    const { store, nextId } = this.#parts;
    try {
      const decision = await store.consume({ id: nextId(), charges: charged.map(({ charge }) => charge) });
      if (!decision.allowed) throw this.#refusal(decision, charged, context);
      this.#publish(context, legacyHeaders([...(earlier?.budgets ?? []), ...decision.budgets]));
      return decision;
    } catch (error) {
      throw error instanceof StoreUnavailableError ? this.#unavailable(error, context) : error;
    }
  }

  async #charges(rules: readonly Rule[], context: ExecutionContext, later?: Rule[]): Promise<readonly RuleCharge[]> {
    try {
      return await this.#parts.charges.of(rules, context, later);
    } catch (error) {
      throw error instanceof RateLimitUnavailableException ? this.#unavailable(error.cause, context) : error;
    }
  }

  #refusal(denied: Denied, charged: readonly RuleCharge[], context: ExecutionContext): RateLimitException {
    const [refusal] = denied.refusedBy;
    this.#publish(context, legacyHeaders([refusal]));
    this.#parts.transport.publish(context, retryAfterHeader(denied));
    const { rule } = charged.find(({ charge }) => logName(charge) === logName(refusal))!;
    return new RateLimitException(denied, this.#message(rule, denied, context));
  }

  #message(rule: Rule, denied: Denied, context: ExecutionContext): string {
    if (typeof rule.message === 'string') return rule.message;
    try {
      return String(rule.message(denied, context));
    } catch (error) {
      this.#parts.log.error(rule, `its message function failed: ${String(error)}`);
      return RULE_DEFAULTS.message as string;
    }
  }

  #unavailable(cause: unknown, context: ExecutionContext): RateLimitUnavailableException {
    this.#parts.transport.publish(context, retryAfterHeader({ retryAfterMs: UNAVAILABLE_RETRY_MS }));
    return new RateLimitUnavailableException(cause);
  }

  #publish(context: ExecutionContext, fields: HeaderFields): void {
    if (this.#parts.hasHeaders) this.#parts.transport.publish(context, fields);
  }

  /** Best effort: what cannot be given back leaves with the window. */
  async #giveBack({ id, budgets, receipt }: Allowed): Promise<void> {
    await this.#parts.store.refund({ id, charges: budgets, receipt }).catch(() => undefined);
  }
}
