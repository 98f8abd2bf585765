import type { Charge } from '../core/charge.ts';
import type { Decision } from '../core/decision.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import type { Blocks } from './blocks.ts';
import type { RuleCharge } from './rule-charges.ts';

/** For the charge of a call that waits: what the rules in force charge when it is asked for. */
const renewals = new WeakMap<Charge, () => readonly RuleCharge[]>();

/** Has a charge replaced when a {@link RenewingStore} is asked for it: its rule may change while it waits. */
export const renewWhenAsked = (charge: Charge, find: () => readonly RuleCharge[]): void =>
  void renewals.set(charge, find);

/** The store, asked for what the rules charge at that moment; whom they block then is refused. */
export class RenewingStore implements Pick<RateLimitStore, 'consume' | 'refund'> {
  readonly #inner: Pick<RateLimitStore, 'refund'>;
  readonly #blocks: Blocks;

  constructor(inner: Pick<RateLimitStore, 'refund'>, blocks: Blocks) {
    this.#inner = inner;
    this.#blocks = blocks;
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    const charged = request.charges.flatMap((charge) => renewals.get(charge)!());
    return this.#blocks.consumeUncounted({ ...request, charges: charged.map(({ charge }) => charge) }, charged);
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#inner.refund(request);
  }
}
