import { RateLimitRequestError } from './errors.ts';
import type { StoreErrorPolicy } from './store-error-policy.ts';

/** One budget that a call wants to take units from. */
export interface Charge {
  /**
   * Whose budget for what, e.g. `{ip:203.0.113.7}:POST /login`. Together with `windowMs` it names one log: equal keys
   * with different windows are different budgets. On Redis Cluster the part in the first braces chooses the slot.
   */
  readonly key: string;
  /** Units admitted in any window of `windowMs`; a whole number from 1 to {@link MAX_LIMIT}. */
  readonly limit: number;
  /** Length of the sliding window, whole milliseconds. */
  readonly windowMs: number;
  /** Units taken; a whole number from 1. A cost above the limit or above {@link MAX_COST} is always refused. */
  readonly cost: number;
  /** A label that decisions carry back: the name of the rule behind the charge. */
  readonly rule?: string;
  /** Overrides the store's own policy for this charge. */
  readonly onStoreError?: StoreErrorPolicy;
  /**
   * True for keys that no client chooses, such as that of a method: a store of bounded size always has room for them,
   * so that nobody can crowd them out.
   */
  readonly isAlwaysTracked?: boolean;
}

/** An exact log keeps every admitted unit, and freeing a longer one holds Redis up for milliseconds. */
export const MAX_LIMIT = 10_000;
/** An exact log writes one entry per unit, and one script call has to stay short. */
export const MAX_COST = 100;
/** Calls carry an id of letters, digits, `-` and `_`: `#` numbers the units of one call. */
const CALL_ID = /^[\w-]{1,64}$/;

const isWhole = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;

/** @throws RateLimitRequestError naming the field and the value; a store never sees a charge that it cannot judge. */
export function assertCharges(charges: readonly Charge[]): void {
  if (charges.length === 0) throw new RateLimitRequestError('charges must not be empty');
  for (const { key, limit, windowMs, cost } of charges) {
    if (typeof key !== 'string' || key === '')
      throw new RateLimitRequestError(`charge key must be a string, got ${String(key)}`);
    if (!isWhole(limit, MAX_LIMIT))
      throw new RateLimitRequestError(`limit must be 1 to ${MAX_LIMIT}, got ${String(limit)}`);
    if (!isWhole(windowMs, Number.MAX_SAFE_INTEGER / 2_000)) {
      throw new RateLimitRequestError(`windowMs must be a whole number of milliseconds, got ${String(windowMs)}`);
    }
    if (!isWhole(cost, Number.MAX_SAFE_INTEGER))
      throw new RateLimitRequestError(`cost must be 1 or more, got ${String(cost)}`);
  }
}

/** @throws RateLimitRequestError when the id could be mistaken for another call's. */
export function assertCallId(id: string): void {
  if (typeof id !== 'string' || !CALL_ID.test(id)) {
    throw new RateLimitRequestError(`id must be 1 to 64 letters, digits, "-" or "_", got ${JSON.stringify(id)}`);
  }
}

/** Whether some waiting makes room for the charge. */
export const isAffordable = ({ cost, limit }: Pick<Charge, 'cost' | 'limit'>): boolean =>
  cost <= limit && cost <= MAX_COST;

/** What names a charge's log. */
export const logName = (charge: Charge): string => `${charge.key}:${charge.windowMs}`;

/**
 * Charges on one log become one: the smallest limit, the largest cost. `places[i]` is where `charges[i]` went.
 */
export function mergeCharges(charges: readonly Charge[]): { merged: readonly Charge[]; places: readonly number[] } {
  if (charges.length === 1) return { merged: charges, places: [0] };
  const merged: Charge[] = [];
  const placeOf = new Map<string, number>();
  const places = charges.map((charge) => {
    const name = logName(charge);
    const place = placeOf.get(name);
    if (place === undefined) {
      placeOf.set(name, merged.length);
      return merged.push(charge) - 1;
    }
    const other = merged[place]!;
    merged[place] = {
      ...other,
      limit: Math.min(other.limit, charge.limit),
      cost: Math.max(other.cost, charge.cost),
    };
    return place;
  });
  return { merged, places };
}
