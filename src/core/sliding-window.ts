import { isAffordable, roomFor, type Charge } from './charge.ts';
import type { Reading } from './decision.ts';
import { leavesAfterMs } from './slices.ts';
import type { WindowLog } from './window-log.ts';

/**
 * The exact sliding window log as a pure function of (log, charge, now): an entry lives while it is younger than the
 * window, and a call has room when the live units and its own are at most the limit. All times are milliseconds of
 * one clock that never steps back, fractions included.
 *
 * Why it is exact: take any window (t − W, t] and the last call admitted in it. Every other unit admitted in the
 * window was admitted earlier, so it was in the log and alive when that call was judged, and the sum was at most the
 * limit.
 */
export function readWindow(charge: Charge, log: WindowLog | undefined, now: number): Reading {
  const { limit, windowMs } = charge;
  const horizon = now - windowMs;
  const live = log?.unitsAfter(horizon) ?? 0;
  const reading: Reading = {
    remaining: Math.max(0, limit - live),
    resetAfterMs: log && live > 0 ? Math.ceil(log.newestAt - horizon) : 0,
  };
  if (!log || !isAffordable(charge)) return isAffordable(charge) ? reading : { ...reading, refusal: {} };
  const excess = live + roomFor(charge) - limit;
  if (excess <= 0) return reading;
  return { ...reading, refusal: { retryAfterMs: Math.ceil(log.timeOfUnit(excess, horizon) - horizon) } };
}

/** The reading right after the charge was taken, at this moment (whole microseconds). */
export const afterCharge = (charge: Charge, reading: Reading, now: number): Reading =>
  charge.cost === 0
    ? reading
    : { remaining: reading.remaining - charge.cost, resetAfterMs: leavesAfterMs(charge, now) };
