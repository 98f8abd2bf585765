import type { ExecutionContext } from '@nestjs/common';
import { logName } from '../core/charge.ts';
import type { Allowed, Budget, Denied } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore } from '../core/rate-limit-store.ts';
import { describeError, show } from '../core/show.ts';
import { retryAfterHeader } from '../transports/rate-limit-headers.ts';
import type { Transport } from '../transports/transport.ts';
import type { Blocks } from './blocks.ts';
import { RULE_DEFAULTS } from './compile-rule.ts';
import type { DecisionStream } from './decision-stream.ts';
import type { HeaderWriter } from './header-format.ts';
import { problemDetails } from './problem-details.ts';
import { RateLimitException } from './rate-limit.exception.ts';
import { RateLimitUnavailableException, UNAVAILABLE_RETRY_MS } from './rate-limit-unavailable.exception.ts';
import type { Rule } from './rule.ts';
import type { RuleCharge, RuleCharges } from './rule-charges.ts';
import type { RuleLog } from './rule-log.ts';
import type { KnownMoment } from './shadow-moment.ts';
import { withoutStackTrace } from './without-stack-trace.ts';

/** What a call took, or may have taken where its failure policy let it through. */
export interface Taken {
  readonly request: ConsumeRequest;
  readonly decision: Allowed;
  /** The charges of the request with their rules. */
  readonly charged: readonly RuleCharge[];
  /** Milliseconds that the store took. */
  readonly tookMs: number;
}

export interface Moment {
  readonly rules: readonly Rule[];
  /** Takes the rules that have no identity yet, where there is a later moment. */
  readonly later?: Rule[];
  /** Milliseconds that the store may take for its answer. */
  readonly withinMs: number;
  /** There if functions were asked before, or a rule is not enforced for everybody. */
  readonly known?: KnownMoment | undefined;
  /** Budgets that an earlier moment charged: headers tell of them too. */
  readonly earlier?: readonly Budget[];
}

interface Parts {
  readonly store: RateLimitStore;
  readonly transport: Transport;
  readonly charges: RuleCharges;
  readonly log: RuleLog;
  readonly decisions: DecisionStream;
  readonly blocks: Blocks;
  readonly nextId: () => string;
  /** What answers carry besides `Retry-After`. */
  readonly headers: HeaderWriter;
  /** Whether refusals are told as problem details. */
  readonly hasProblemDetails: boolean;
}

/** Decides the rules of one moment in one store call, and puts the answer into headers or an exception. */
export class RuleDecider {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @returns undefined when nothing was to be decided
   * @throws RateLimitException for a refusal; RateLimitUnavailableException or ForbiddenException by policy
   */
  async decide(
    { rules, later, withinMs, known, earlier = [] }: Moment,
    context: ExecutionContext,
  ): Promise<Taken | undefined> {
    try {
      const charged = await this.#parts.charges.of(rules, context, later, known);
      if (charged.length === 0) return undefined;
      const request = { id: this.#parts.nextId(), charges: charged.map(({ charge }) => charge), withinMs };
      const { decision, tookMs } = await this.#parts.decisions.observe(charged, () =>
        this.#parts.blocks.consume(request, charged),
      );
      if (!decision.allowed) throw this.#refusal(decision, charged, context);
      this.#parts.transport.publish(context, this.#parts.headers([...earlier, ...decision.budgets]));
      return { request, decision, charged, tookMs };
    } catch (error) {
      const isUnavailable = error instanceof StoreUnavailableError || error instanceof RateLimitUnavailableException;
      if (isUnavailable)
        this.#parts.transport.publish(context, retryAfterHeader({ retryAfterMs: UNAVAILABLE_RETRY_MS }));
      throw error instanceof StoreUnavailableError ? new RateLimitUnavailableException(error) : error;
    }
  }

  /** Best effort, and nobody waits for it: what cannot be given back leaves with the window. */
  giveBack({ request: { id, charges }, decision: { receipt } }: Taken): void {
    this.#parts.store.refund({ id, charges, receipt }).catch(() => undefined);
  }

  /** Takes off the answer what it tells of this. */
  withdraw({ decision }: Taken, context: ExecutionContext): void {
    const { headers, transport } = this.#parts;
    transport.withdraw(context, Object.keys(headers(decision.budgets)));
  }

  #refusal(denied: Denied, charged: readonly RuleCharge[], context: ExecutionContext): RateLimitException {
    const { headers, transport, hasProblemDetails } = this.#parts;
    transport.publish(context, { ...headers(denied.budgets, denied), ...retryAfterHeader(denied) });
    transport.forbidCaching(context);
    const [refusal] = denied.refusedBy;
    const isRefused = ({ charge }: RuleCharge): boolean =>
      logName(charge) === logName(refusal) && charge.limit === refusal.limit;
    const { rule } = charged.find(isRefused)!;
    const message = this.#message(rule, denied, context);
    const body = hasProblemDetails ? problemDetails : undefined;
    return withoutStackTrace(() => new RateLimitException(denied, message, body));
  }

  #message(rule: Rule, denied: Denied, context: ExecutionContext): string {
    if (typeof rule.message === 'string') return rule.message;
    try {
      const message: unknown = rule.message(denied, context);
      if (typeof message === 'string') return message;
      // A promise is none, and must not end the process if it is rejected.
      void Promise.resolve(message).catch(() => undefined);
      throw new TypeError(`it gave ${show(message)}, not a text`);
    } catch (error) {
      this.#parts.log.error(rule, `its message function failed: ${describeError(error)}`);
      return RULE_DEFAULTS.message;
    }
  }
}
