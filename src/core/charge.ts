import { RateLimitRequestError } from './errors.ts';
import { show } from './show.ts';
import type { StoreErrorPolicy } from './store-error-policy.ts';
import { coldLimit, MAX_COLD_FACTOR, strictestWarmUp, type WarmUp } from './warm-up.ts';

/**
 * How a log counts. `exact`: each unit by itself, at the moment of its admission. `compact`: by the hundredth of the
 * window, at the end of it. Neither ever holds more than the limit in a window; in a compact one room comes back up to a
 * hundredth of the window late, it takes some hundred bytes at any limit, and it does not know calls.
 */
export type LogLayout = 'exact' | 'compact';

/** One budget that a call wants to take units from. */
export interface Charge {
  /**
   * Whose budget for what, e.g. `{ip:203.0.113.7}:POST /login`. Together with `windowMs` it names one log: equal keys
   * with different windows are different budgets. On Redis Cluster the part in the first braces chooses the slot.
   */
  readonly key: string;
  /**
   * Units admitted in any window of `windowMs`; a whole number from 1 to {@link MAX_LIMIT}, or to
   * {@link MAX_EXACT_LIMIT} in the exact layout.
   */
  readonly limit: number;
  /** Length of the sliding window, whole milliseconds. */
  readonly windowMs: number;
  /**
   * Units taken; a whole number from 0. A cost above the limit is always refused, in the exact layout one above
   * {@link MAX_EXACT_COST}, and with a warm-up one above the limit of a cold log: `limit / coldFactor`, rounded up. A cost
   * of 0 takes nothing, and is refused while there is no room for one unit.
   */
  readonly cost: number;
  /**
   * How the units are counted, where the key has no log yet: an exact log becomes a compact one when it is asked for one,
   * and a compact one stays so until it expires.
   * @default 'exact' up to a limit of 128, 'compact' above
   */
  readonly layout?: LogLayout | undefined;
  /**
   * How the limit climbs after a cold start or idleness; it is never above `limit`. The charges on one log agree in it, or
   * the stricter holds for those that are decided together. In the exact layout, the limit is then 128 at most. A refund
   * leaves the climb as it is.
   * @default none: the limit is in force at once
   */
  readonly warmUp?: WarmUp | undefined;
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

/** A compact log counts its units in four bytes. */
export const MAX_LIMIT = 1_000_000_000;
/** An exact log keeps every admitted unit, and freeing a longer one holds Redis up for milliseconds. */
export const MAX_EXACT_LIMIT = 10_000;
/** An exact log writes one entry per unit, and one script call has to stay short. */
export const MAX_EXACT_COST = 128;
/** With a warm-up, an exact log is read through to tell when there is room. */
export const MAX_EXACT_WARM_UP_LIMIT = 128;
/** Redis keeps sorted sets of up to 128 entries in 20 bytes each, larger ones in 120. */
const EXACT_UP_TO = 128;
/** Calls carry an id of letters, digits, `-` and `_`: `#` numbers the units of one call. */
const CALL_ID = /^[\w-]{1,64}$/;

/** A year, and a day. */
const MAX_WINDOW_MS = 366 * 86_400_000;

const isWhole = (value: unknown, most: number, least = 1): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** @throws RateLimitRequestError naming the field and the value; a store never sees a charge that it cannot judge. */
export function assertCharges(charges: readonly Charge[]): void {
  if (charges.length === 0) throw new RateLimitRequestError('charges must not be empty');
  for (const charge of charges) {
    const { key, limit, windowMs, cost, layout, warmUp } = charge;
    if (typeof key !== 'string' || key === '')
      throw new RateLimitRequestError(`charge key must be a string, got ${String(key)}`);
    // Halves of characters would all become the same character on their way to Redis.
    if (!key.isWellFormed()) throw new RateLimitRequestError(`charge key must be whole characters, got ${show(key)}`);
    if (layout !== undefined && layout !== 'exact' && layout !== 'compact')
      throw new RateLimitRequestError(`layout must be exact or compact, got ${String(layout)}`);
    const maxLimit = layout === 'exact' ? MAX_EXACT_LIMIT : MAX_LIMIT;
    if (!isWhole(limit, maxLimit))
      throw new RateLimitRequestError(`limit must be 1 to ${maxLimit}, got ${String(limit)}`);
    if (!isWhole(windowMs, MAX_WINDOW_MS)) {
      throw new RateLimitRequestError(
        `windowMs must be whole milliseconds of at most 366 days, got ${String(windowMs)}`,
      );
    }
    if (!isWhole(cost, Number.MAX_SAFE_INTEGER, 0))
      throw new RateLimitRequestError(`cost must be 0 or more, got ${String(cost)}`);
    if (warmUp !== undefined) assertWarmUp(warmUp, charge);
  }
}

function assertWarmUp({ overMs, coldFactor }: WarmUp, { layout, limit }: Charge): void {
  if (!isWhole(overMs, MAX_WINDOW_MS)) {
    throw new RateLimitRequestError(
      `warmUp.overMs must be whole milliseconds of at most 366 days, got ${String(overMs)}`,
    );
  }
  if (!(coldFactor > 1 && coldFactor <= MAX_COLD_FACTOR)) {
    throw new RateLimitRequestError(
      `warmUp.coldFactor must be above 1, and at most ${MAX_COLD_FACTOR}, got ${String(coldFactor)}`,
    );
  }
  if (layout === 'exact' && limit > MAX_EXACT_WARM_UP_LIMIT) {
    throw new RateLimitRequestError(
      `limit must be 1 to ${MAX_EXACT_WARM_UP_LIMIT} in an exact log with a warm-up, got ${limit}`,
    );
  }
}

/** @throws RateLimitRequestError when the id could be mistaken for another call's. */
export function assertCallId(id: string): void {
  if (typeof id !== 'string' || !CALL_ID.test(id)) {
    throw new RateLimitRequestError(`id must be 1 to 64 letters, digits, "-" or "_", got ${JSON.stringify(id)}`);
  }
}

/** The layout that the charge asks for. */
export const layoutOf = ({ layout, limit }: Pick<Charge, 'layout' | 'limit'>): LogLayout =>
  layout ?? (limit <= EXACT_UP_TO ? 'exact' : 'compact');

/** The largest limit of an exact log. */
export const maxExactLimit = (warmUp: WarmUp | undefined): number =>
  warmUp ? MAX_EXACT_WARM_UP_LIMIT : MAX_EXACT_LIMIT;

/** The largest cost for which some waiting makes room. */
export const maxCostOf = (charge: Pick<Charge, 'limit' | 'layout' | 'warmUp'>): number => {
  const limit = charge.warmUp ? coldLimit(charge.limit, charge.warmUp) : charge.limit;
  return layoutOf(charge) === 'exact' ? Math.min(limit, MAX_EXACT_COST) : limit;
};

/** Whether some waiting makes room for the charge. */
export const isAffordable = (charge: Pick<Charge, 'cost' | 'limit' | 'layout' | 'warmUp'>): boolean =>
  charge.cost <= maxCostOf(charge);

/** The units that the log must have room for: what takes nothing still needs room for one. */
export const roomFor = ({ cost }: Pick<Charge, 'cost'>): number => Math.max(1, cost);

/** What names a charge's log. */
export const logName = (charge: Charge): string => `${charge.key}:${charge.windowMs}`;

/**
 * Charges on one log become one: the smallest limit, the largest cost, the slowest warm-up, exact if one asks for it.
 * `places[i]` is where `charges[i]` went.
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
    merged[place] = stricter(merged[place]!, charge);
    return place;
  });
  return { merged, places };
}

function stricter(one: Charge, other: Charge): Charge {
  const limit = Math.min(one.limit, other.limit);
  const warmUp = strictestWarmUp(one.warmUp, other.warmUp);
  const layout = [one.layout, other.layout].includes('exact') ? 'exact' : (one.layout ?? other.layout);
  const mayBeExact = !warmUp || limit <= MAX_EXACT_WARM_UP_LIMIT;
  return {
    ...one,
    limit,
    cost: Math.max(one.cost, other.cost),
    layout: layout === 'exact' && !mayBeExact ? 'compact' : layout,
    ...(warmUp && { warmUp }),
  };
}
