import type { Charge } from '../core/charge.ts';
import type { Decision } from '../core/decision.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';

/** For the charge of a call that waits: what the rules in force charge when it is asked for. */
const renewals = new WeakMap<Charge, () => readonly Charge[]>();

/** Has a charge replaced when a {@link RenewingStore} is asked for it: its rule may change while it waits. */
export const renewWhenAsked = (charge: Charge, find: () => readonly Charge[]): void => void renewals.set(charge, find);

/** The store, asked for what the rules charge at that moment. */
export class RenewingStore implements Pick<RateLimitStore, 'consume' | 'refund'> {
  readonly #inner: RateLimitStore;

  constructor(inner: RateLimitStore) {
    this.#inner = inner;
  }

  consume(request: ConsumeRequest): Promise<Decision> {
    const charges = request.charges.flatMap((charge) => renewals.get(charge)?.() ?? [charge]);
    return this.#inner.consume({ ...request, charges });
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#inner.refund(request);
  }
}
