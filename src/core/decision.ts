import type { Charge } from './charge.ts';

/** What a charge's budget looks like right after a decision. */
export interface Budget extends Charge {
  /**
   * Units still free in the window that ends now, by the limit that a warm-up has reached; never negative.
   */
  readonly remaining: number;
  /** Whole milliseconds, rounded up, until the budget is whole again if nobody takes from it; 0 when it is. */
  readonly resetAfterMs: number;
}

/** A budget that had no room for the call. */
export interface Refusal extends Budget {
  /**
   * Whole milliseconds, rounded up, until this budget has room for the same cost if nobody else takes it:
   * refused one millisecond earlier, admitted then. Absent when no waiting helps, since the cost is above the limit (with a
   * warm-up, above the limit of a cold log).
   */
  readonly retryAfterMs?: number;
  /**
   * True where the rule's `block` refuses, whatever room its budget has: `remaining` is then 0, and `resetAfterMs` does not
   * end before the block.
   */
  readonly isBlock?: boolean;
}

/**
 * What decided in place of the store: `cache`, a refusal that this process remembers; `local`, this process, where the
 * store could not or had forgotten; `policy`, the failure policy `'allow'`, so nothing is known of the budgets; `fence`,
 * that the store may have forgotten what it admitted.
 */
export type DecisionSubstitute = 'cache' | 'local' | 'policy' | 'fence';

/** Every charge of the call was taken. */
export interface Allowed {
  /** Tells the two kinds of decision apart. */
  readonly allowed: true;
  /** The call that was charged. */
  readonly id: string;
  /**
   * One for each charge of the request, in its order. Empty when a failure policy let the call through: nothing is
   * known of the budgets then.
   */
  readonly budgets: readonly Budget[];
  /** What the deciding store wants to see again in a refund, if anything. Opaque. */
  readonly receipt?: string;
  /**
   * Milliseconds for which the store has kept all it was told, where it knows: of a window that is longer, it may have
   * forgotten a part.
   */
  readonly memoryAgeMs?: number;
  /** Absent where the store decided. */
  readonly decidedBy?: DecisionSubstitute;
}

/** No charge of the call was taken. */
export interface Denied {
  /** Tells the two kinds of decision apart. */
  readonly allowed: false;
  /** One for each charge of the request that the refusing store call judged, in its order. */
  readonly budgets: readonly Budget[];
  /** The budgets without room, the one with the longest wait first. */
  readonly refusedBy: readonly [Refusal, ...Refusal[]];
  /** The longest wait among them; absent when no waiting helps. */
  readonly retryAfterMs?: number;
  /** Absent where the store decided. */
  readonly decidedBy?: DecisionSubstitute;
}

/** The answer of a store: everything that headers, exceptions and metrics tell comes from here. */
export type Decision = Allowed | Denied;

/** What `consume` would answer, with nothing charged. */
export type Preview = Omit<Allowed, 'id' | 'receipt' | 'memoryAgeMs' | 'decidedBy'> | Denied;

/** One log as a store found it. `refusal` is there when it has no room, `retryAfterMs` when waiting helps. */
export interface Reading {
  readonly remaining: number;
  readonly resetAfterMs: number;
  readonly refusal?: { readonly retryAfterMs?: number };
}

/** A charge with the reading of its log. Written out: to spread a charge takes as long as all the rest of a decision. */
export const budgetOf = (
  { key, limit, windowMs, cost, layout, warmUp, rule, onStoreError, isAlwaysTracked }: Charge,
  { remaining, resetAfterMs }: Pick<Reading, 'remaining' | 'resetAfterMs'>,
): Budget => ({
  key,
  limit,
  windowMs,
  cost,
  layout,
  warmUp,
  rule,
  onStoreError,
  isAlwaysTracked,
  remaining,
  resetAfterMs,
});

/** The same of a log that has no room. */
export const refusalOf = (
  { key, limit, windowMs, cost, layout, warmUp, rule, onStoreError, isAlwaysTracked }: Charge,
  { remaining, resetAfterMs }: Pick<Reading, 'remaining' | 'resetAfterMs'>,
  retryAfterMs: number,
): Refusal => ({
  key,
  limit,
  windowMs,
  cost,
  layout,
  warmUp,
  rule,
  onStoreError,
  isAlwaysTracked,
  remaining,
  resetAfterMs,
  retryAfterMs,
});

/** The budgets of a decision: each charge with the reading of its log. */
export const budgetsOf = (charges: readonly Charge[], readings: readonly Reading[]): readonly Budget[] =>
  charges.map((charge, i) => budgetOf(charge, readings[i]!));

/**
 * The readings of charges that were merged into logs: `places[i]` is the log of `charges[i]`. A refusal is that of the
 * charges with the smallest limit on their log, since the others would not have refused.
 */
export const readingsOfCharges = (
  charges: readonly Charge[],
  { merged, places }: { readonly merged: readonly Charge[]; readonly places: readonly number[] },
  readings: readonly Reading[],
): readonly Reading[] => {
  if (merged.length === charges.length) return readings;
  return charges.map(({ limit }, i) => {
    const place = places[i]!;
    const { refusal, ...reading } = readings[place]!;
    return refusal && limit === merged[place]!.limit ? { ...reading, refusal } : reading;
  });
};

const wait = ({ retryAfterMs = Infinity }: { retryAfterMs?: number }): number => retryAfterMs;

/** The refusal in these readings, or undefined when every log has room. */
export function denialOf(charges: readonly Charge[], readings: readonly Reading[]): Denied | undefined {
  if (!readings.some(({ refusal }) => refusal)) return undefined;
  const budgets = budgetsOf(charges, readings);
  const refusals = budgets.flatMap((budget, i): Refusal[] => {
    const { refusal } = readings[i]!;
    return refusal ? [{ ...budget, ...refusal }] : [];
  });
  return denialBy(refusals, budgets);
}

/** Denied by these refusals, or undefined when there is none. */
export function denialBy(refusals: readonly Refusal[], budgets: readonly Budget[]): Denied | undefined {
  if (refusals.length === 0) return undefined;
  const inOrder = refusals.length === 1 ? refusals : [...refusals].sort((a, b) => wait(b) - wait(a) || 0);
  const refusedBy = inOrder as readonly [Refusal, ...Refusal[]];
  const { retryAfterMs } = refusedBy[0];
  return retryAfterMs === undefined
    ? { allowed: false, budgets, refusedBy }
    : { allowed: false, budgets, refusedBy, retryAfterMs };
}
