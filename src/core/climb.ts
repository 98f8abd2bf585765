import { wholeUnits, type WarmUp } from './warm-up.ts';

/**
 * Where the climb of one log stands. Both are moments, in milliseconds: the state does not depend on the limit, which
 * may change.
 */
export interface WarmUpState {
  /** When no permits would be stored any more, if the log were used in full until then. */
  readonly usedUpAt: number;
  /** Until then, what was admitted is full use; from then on, the log is idle, and cools. */
  readonly idleFrom: number;
}

/** Who takes all but so much of what he may is not idle: clients come late, and room comes back late. */
const FULL_USE = 1.05;

/**
 * The climb of a limit after Guava's SmoothRateLimiter.SmoothWarmingUp, as pure functions; lua/warm-up.lua has the same.
 *
 * An idle log stores permits p, and the more there are, the longer is the interval v between two units. With the stable
 * interval s = window / limit, the cold factor κ, and the time `over`:
 *
 * - v(p) = s up to a threshold T, and from there rises along a line to κ · s at the most permits M. Taking dp permits takes
 *   v(p) · dp. T and M are such that those below T take over / 2, and those above it `over`: the areas below the line,
 *   s · T and (M − T) · s · (1 + κ) / 2. So T = over / 2s, M = T + 2 · over / (s · (1 + κ)), and T / M = (κ + 1) / (κ + 5).
 * - Used in full, p falls by 1 / v in a unit of time. Above T, v falls with it by σ = s · (κ − 1) / (M − T) for each permit,
 *   so v² falls by 2 · σ · v / v: evenly, from (κ · s)² to s² in `over`. At the age t it is s² · (κ² − (κ² − 1) · t / over).
 * - Idle, p grows evenly, from nothing to M in `over`.
 *
 * Guava delays calls by the interval. Here the calls that are admitted follow each other on such a schedule, and the
 * effective limit is what fits into a window at the interval that the schedule has reached now, window / v: not at its end,
 * so that a burst does not climb at once. Used in full from cold at t = 0, it is limit / √(κ² − (κ² − 1) · t / over), rounded
 * up.
 *
 * The stored permits are written as the time in which they are used up (`left`), which falls as the clock runs, or as their
 * share of M (`level`), which grows with it; intervals in stable ones, as v / s.
 */
export class Climb {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #overMs: number;
  readonly #factor: number;
  /** κ² − 1: what the square of the interval falls by in `overMs`. */
  readonly #fall: number;
  /** T / M. */
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
    return wholeUnits(this.#limit / this.#intervalAt(this.#leftAt(state, moment)));
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
    // What is admitted is over when it has left the window.
    return { usedUpAt, idleFrom: Math.min(idleFrom + FULL_USE * useMs, now + FULL_USE * this.#windowMs) };
  }

  #leftAt(state: WarmUpState | undefined, moment: number): number {
    if (!state) return 1.5 * this.#overMs;
    const { usedUpAt, idleFrom } = state;
    if (moment <= idleFrom) return usedUpAt - moment;
    const level = this.#levelOf(Math.max(0, usedUpAt - idleFrom)) + (moment - idleFrom) / this.#overMs;
    return this.#leftOf(Math.min(1, level));
  }

  /** The interval when so much is left; less than nothing is nothing. */
  #intervalAt(left: number): number {
    if (left <= this.#overMs / 2) return 1;
    return Math.min(this.#factor, Math.sqrt(1 + this.#fall * (left / this.#overMs - 0.5)));
  }

  #levelOf(left: number): number {
    if (left <= this.#overMs / 2) return (this.#threshold * left) / (this.#overMs / 2);
    return this.#threshold + ((1 - this.#threshold) * (this.#intervalAt(left) - 1)) / (this.#factor - 1);
  }

  #leftOf(level: number): number {
    if (level <= this.#threshold) return ((this.#overMs / 2) * level) / this.#threshold;
    const interval = 1 + ((this.#factor - 1) * (level - this.#threshold)) / (1 - this.#threshold);
    return this.#overMs * (0.5 + (interval ** 2 - 1) / this.#fall);
  }

  /** How long so many units take, from this interval on: the area below the line. */
  #timeOf(units: number, interval: number): number {
    const stableMs = this.#windowMs / this.#limit;
    // σ / s = s · (κ − 1) / (M − T) / s, with M and T as above.
    const fallPerUnit = (this.#fall * stableMs) / (2 * this.#overMs);
    const climbing = Math.min(units, (interval - 1) / fallPerUnit);
    return stableMs * (climbing * (interval - (climbing * fallPerUnit) / 2) + (units - climbing));
  }
}
