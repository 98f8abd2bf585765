import { maxCostOf, type Charge } from '../core/charge.ts';
import type { Allowed, Denied } from '../core/decision.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';

/** Some of the units that were asked for were taken, at least one. */
export interface Granted extends Allowed {
  /** Units taken. */
  readonly granted: number;
}

/** Between two of its own calls others may take what it was told of; so often it looks again. */
const MOST_LOOKS = 5;

/**
 * Takes as much of the charge's cost as there is room for. The first call takes all, where there is room. Otherwise the
 * store is asked how much there is, since what is remembered of a refusal does not grow, and that is taken. Where others
 * were faster each time, one unit is asked for.
 *
 * @param others are charged the same units besides
 */
export async function consumeUpTo(
  store: Pick<RateLimitStore, 'consume' | 'peek'>,
  charge: Charge,
  nextId: () => string,
  others: readonly Charge[] = [],
): Promise<Granted | Denied> {
  const all = (cost: number): readonly Charge[] => [charge, ...others].map((each) => ({ ...each, cost }));
  const take = async (cost: number): Promise<Granted | Denied> => {
    const decision = await store.consume({ id: nextId(), charges: all(cost) });
    return decision.allowed ? { ...decision, granted: cost } : decision;
  };
  const most = Math.min(charge.cost, ...[charge, ...others].map(maxCostOf));
  let decision = await take(most);
  for (let looks = 0; !decision.allowed && most > 1; looks++) {
    const preview = await store.peek(all(1));
    if (!preview.allowed) return preview;
    const isLast = looks === MOST_LOOKS;
    decision = await take(isLast ? 1 : Math.min(most, ...preview.budgets.map(({ remaining }) => remaining)));
    if (isLast) break;
  }
  return decision;
}
