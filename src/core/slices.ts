import { layoutOf, type Charge } from './charge.ts';

/** One slice of a compact log. */
export interface Slice {
  readonly number: number;
  /** Its end, microseconds. */
  readonly endsAt: number;
}

/**
 * The slice in which this moment (whole microseconds) lies: a hundredth of the window, at whose end its units count as
 * admitted.
 *
 * Why that is exact enough: an entry may carry any stamp that is not earlier than the admission. Take any window
 * (t − W, t] and the last call admitted in it. Every other unit admitted in the window was admitted earlier, and its stamp
 * is later than t − W, so it was in the log and alive when that call was judged, and the sum was at most the limit. A
 * unit is counted for less than a slice too long.
 */
export function sliceAt(at: number, windowMs: number): Slice {
  const length = windowMs * 10;
  const number = Math.ceil(at / length);
  return { number, endsAt: number * length };
}

/** Whole milliseconds, rounded up, until what is admitted at this moment (whole microseconds) leaves the window. */
export function leavesAfterMs(charge: Charge, at: number): number {
  if (layoutOf(charge) === 'exact') return charge.windowMs;
  return charge.windowMs + Math.ceil((sliceAt(at, charge.windowMs).endsAt - at) / 1_000);
}
