import type { Charge } from '../core/charge.ts';
import { denialBy, type Allowed, type Decision, type Denied, type Preview } from '../core/decision.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import type { LocalFallback } from './local-fallback.ts';

/**
 * Does not take the word of a store that may have forgotten: a charge is admitted only when the store has kept its data
 * for a whole window, so that no window holds more than the limit, whatever was lost; until then it is refused. Where the
 * number n of processes is known, each admits its share of the limit less what it admitted in its own last window: since
 * others may have used more than their shares, at most the limit and (n − 1) / n of it.
 */
export class FencedStore implements RateLimitStore {
  readonly #inner: RateLimitStore;
  readonly #shares: LocalFallback | undefined;

  /** @param shares knows what this process admitted, and its share; without it, all is refused until a window has passed */
  constructor(inner: RateLimitStore, shares: LocalFallback | undefined) {
    this.#inner = inner;
    this.#shares = shares;
  }

  async consume(request: ConsumeRequest): Promise<Decision> {
    const decision = await this.#inner.consume(request);
    if (!decision.allowed) return decision;
    const { memoryAgeMs = Infinity, receipt } = decision;
    const doubtful = request.charges.filter((charge) => isDoubtful(charge, memoryAgeMs));
    if (doubtful.length === 0) return decision;
    const judged = this.#shares
      ? this.#shares.consume({ id: request.id, charges: doubtful })
      : denialUntilSure(decision, request.charges, memoryAgeMs);
    if (judged.allowed) return decision;
    this.#inner.refund({ ...request, receipt }).catch(() => undefined);
    return { ...judged, decidedBy: this.#shares ? 'local' : 'fence' };
  }

  peek(charges: readonly Charge[]): Promise<Preview> {
    return this.#inner.peek(charges);
  }

  refund(request: RefundRequest): Promise<void> {
    return this.#inner.refund(request);
  }

  reset(charges: readonly Charge[]): Promise<void> {
    return this.#inner.reset(charges);
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }
}

/** What takes nothing exceeds no limit, whatever was forgotten. */
const isDoubtful = ({ windowMs, cost }: Charge, memoryAgeMs: number): boolean => cost > 0 && windowMs > memoryAgeMs;

/** Until the memory of the store is as old as each window. */
function denialUntilSure({ budgets }: Allowed, charges: readonly Charge[], memoryAgeMs: number): Denied {
  const isFenced = (i: number): boolean => isDoubtful(charges[i]!, memoryAgeMs);
  const fenced = budgets.map((budget, i) => (isFenced(i) ? { ...budget, remaining: 0 } : budget));
  const refusals = fenced
    .filter((_, i) => isFenced(i))
    .map((budget) => ({ ...budget, retryAfterMs: Math.ceil(budget.windowMs - memoryAgeMs) }));
  return denialBy(refusals, fenced)!;
}
