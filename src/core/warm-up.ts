/** How a limit climbs after a cold start or idleness. */
export interface WarmUp {
  /** Milliseconds in which it climbs from `limit / coldFactor` to the limit while it is used up. */
  readonly overMs: number;
  /** How many times lower it is when cold: more than 1, at most 100. */
  readonly coldFactor: number;
}

export const MAX_COLD_FACTOR = 100;

/** What the computer is wrong by, in units. */
const ROUNDING = 1e-6;

/** As a whole number of units, rounded up. */
export const wholeUnits = (limit: number): number => Math.ceil(limit - ROUNDING);

/** The effective limit of a cold log: no smaller one is ever in force. */
export const coldLimit = (limit: number, { coldFactor }: WarmUp): number => wholeUnits(limit / coldFactor);

/** The stricter of two, where both hold for one log. */
export const strictestWarmUp = (one: WarmUp | undefined, other: WarmUp | undefined): WarmUp | undefined =>
  one && other
    ? { overMs: Math.max(one.overMs, other.overMs), coldFactor: Math.max(one.coldFactor, other.coldFactor) }
    : (one ?? other);

/** Whether both are the same climb, or none. */
export const isSameWarmUp = (one: WarmUp | undefined, other: WarmUp | undefined): boolean =>
  one?.overMs === other?.overMs && one?.coldFactor === other?.coldFactor;
