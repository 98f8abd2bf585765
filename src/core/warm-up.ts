/** How a limit climbs after a cold start or idleness. */
export interface WarmUp {
  /** Milliseconds in which it climbs from `limit / coldFactor` to the limit while it is used up. */
  readonly overMs: number;
  /** How many times lower it is when cold: more than 1, at most 100. */
  readonly coldFactor: number;
}

/**
 * Where the climb of one log stands. Both are moments, in milliseconds: the state does not depend on the limit, which
 * may change.
 */
export interface WarmUpState {
  /** When the climb would be over, and half of that time again, if the log were used up until then. */
  readonly usedUpAt: number;
  /** Until then, what was admitted takes all that the climb allows; from then on, the log cools. */
  readonly idleFrom: number;
}

export const MAX_COLD_FACTOR = 100;

/** Who takes all but so much of what he may is not idle: clients come late, and room comes back late. */
const FULL_USE = 1.05;
/** What the computer is wrong by. */
const ROUNDING = 1e-6;

/** The effective limit of a cold log: no smaller one is ever in force. */
export const coldLimit = (limit: number, { coldFactor }: WarmUp): number => Math.ceil(limit / coldFactor - ROUNDING);

/** The stricter of two, where both hold for one log. */
export const strictestWarmUp = (one: WarmUp | undefined, other: WarmUp | undefined): WarmUp | undefined =>
  one && other
    ? { overMs: Math.max(one.overMs, other.overMs), coldFactor: Math.max(one.coldFactor, other.coldFactor) }
    : (one ?? other);

/** Whether both are the same climb, or none. */
export const isSameWarmUp = (one: WarmUp | undefined, other: WarmUp | undefined): boolean =>
  one?.overMs === other?.overMs && one?.coldFactor === other?.coldFactor;

/**
 * The climb of a limit after Guava's SmoothRateLimiter.SmoothWarmingUp, as pure functions; lua/warm-up.lua has the same.
 * An idle log stores permits, up to a most; the more are stored, the longer is the interval between two units: `coldFactor`
 * times the stable one at the most, falling along a straight line to the stable one at a threshold below it. All stored
 * permits above the threshold are used up in `overMs`, those below in half of that.
 *
 * Guava delays calls by the interval. Here the calls that are admitted follow each other on such a schedule, and the
 * effective limit is what fits into a window at the interval that the schedule has reached now: not at its end, so that a
 * burst does not climb at once. Used up from cold at t = 0, it is limit / √(κ² − (κ² − 1) · t / overMs), rounded up.
 *
 * The stored permits are written as the time in which the schedule uses them up (`left`): it falls as the clock runs.
 */
export class Climb {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #overMs: number;
  readonly #factor: number;
  /** κ² − 1: what the square of the interval falls by in `overMs`, where the stable interval is 1. */
  readonly #fall: number;
  /** The threshold, as a share of the most permits. */
  readonly #threshold: number;

  constructor(charge: { readonly limit: number; readonly windowMs: number }, { overMs, coldFactor }: WarmUp) {
    this.#limit = charge.limit;
    this.#windowMs = charge.windowMs;
    this.#overMs = overMs;
    this.#factor = coldFactor;
    this.#fall = coldFactor ** 2 - 1;
    this.#threshold = (coldFactor + 1) / (coldFactor + 5);
  }

  /** The effective limit at a moment, if nothing more is admitted; without a state the log is cold. Never above the limit. */
  limitAt(state: WarmUpState | undefined, moment: number): number {
    return Math.ceil(this.#limit / this.#intervalAt(this.#leftAt(state, moment)) - ROUNDING);
  }

  /** The state, as it is believed at this moment: what only a clock that stepped back explains is moved with it. */
  believed(state: WarmUpState | undefined, now: number): WarmUpState | undefined {
    const ahead = state ? state.idleFrom - now - this.#longestUse : 0;
    return state && ahead > 0 ? { usedUpAt: state.usedUpAt - ahead, idleFrom: state.idleFrom - ahead } : state;
  }

  /**
   * The state after a call was admitted, which leaves so many units free. Where that is less than it cost, they count as
   * used: a log whose calls take several units would else cool for want of smaller ones.
   */
  after(state: WarmUpState | undefined, now: number, { cost, free }: { readonly cost: number; readonly free: number }) {
    const isIdle = !state || now > state.idleFrom;
    const idleFrom = isIdle ? now : state.idleFrom;
    const usedUpAt = isIdle ? now + this.#leftAt(state, now) : state.usedUpAt;
    const units = free < cost ? cost + free : cost;
    const useMs = this.#timeOf(units, this.#intervalAt(Math.max(0, usedUpAt - idleFrom)));
    return { usedUpAt, idleFrom: Math.min(idleFrom + FULL_USE * useMs, now + this.#longestUse) };
  }

  /** What is admitted is over when it has left the window. */
  get #longestUse(): number {
    return FULL_USE * this.#windowMs;
  }

  #leftAt(state: WarmUpState | undefined, moment: number): number {
    if (!state) return 1.5 * this.#overMs;
    const { usedUpAt, idleFrom } = state;
    if (moment <= idleFrom) return Math.min(Math.max(0, usedUpAt - moment), 1.5 * this.#overMs);
    const level = this.#levelOf(Math.max(0, usedUpAt - idleFrom)) + (moment - idleFrom) / this.#overMs;
    return this.#leftOf(Math.min(1, level));
  }

  /** The interval when so much is left, in stable intervals. */
  #intervalAt(left: number): number {
    if (left <= this.#overMs / 2) return 1;
    return Math.min(this.#factor, Math.sqrt(1 + this.#fall * (left / this.#overMs - 0.5)));
  }

  /** The stored permits, as a share of the most. */
  #levelOf(left: number): number {
    if (left <= this.#overMs / 2) return (this.#threshold * left) / (this.#overMs / 2);
    return this.#threshold + ((1 - this.#threshold) * (this.#intervalAt(left) - 1)) / (this.#factor - 1);
  }

  #leftOf(level: number): number {
    if (level <= this.#threshold) return ((this.#overMs / 2) * level) / this.#threshold;
    const interval = 1 + ((this.#factor - 1) * (level - this.#threshold)) / (1 - this.#threshold);
    return this.#overMs * (0.5 + (interval ** 2 - 1) / this.#fall);
  }

  /** How long so many units take, from this interval on: the integral of the interval over the units. */
  #timeOf(units: number, interval: number): number {
    const stableMs = this.#windowMs / this.#limit;
    const fallPerUnit = (this.#fall * stableMs) / (2 * this.#overMs);
    const climbing = Math.min(units, (interval - 1) / fallPerUnit);
    return stableMs * (climbing * (interval - (climbing * fallPerUnit) / 2) + (units - climbing));
  }
}
