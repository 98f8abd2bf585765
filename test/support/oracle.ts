/** One admitted call, by the clock of whoever decided. */
export interface Admission {
  readonly at: number;
  readonly units: number;
}

/**
 * The most units admitted in any window (t − windowLength, t], from a record of all admissions. It knows nothing of
 * how they were decided. Times and length are in one unit of the caller's choice.
 */
export function mostAdmittedInAnyWindow(admissions: readonly Admission[], windowLength: number): number {
  const inOrder = [...admissions].sort((a, b) => a.at - b.at);
  let most = 0;
  let units = 0;
  let oldest = 0;
  // The units of a window can only be the most at a moment of admission, as its end.
  for (const { at, units: added } of inOrder) {
    units += added;
    while (inOrder[oldest]!.at <= at - windowLength) units -= inOrder[oldest++]!.units;
    most = Math.max(most, units);
  }
  return most;
}

/** An admitted call whose moment is only known to lie between these two. */
export interface BoundedAdmission {
  readonly from: number;
  readonly to: number;
  readonly units: number;
}

/** As {@link mostAdmittedInAnyWindow}, counting only what was admitted in one window for certain. */
export function mostSurelyAdmittedInAnyWindow(admissions: readonly BoundedAdmission[], windowLength: number): number {
  const unitsOf = (end: number): number =>
    admissions.reduce((sum, { from, to, units }) => (to <= end && from > end - windowLength ? sum + units : sum), 0);
  return Math.max(0, ...admissions.map(({ to }) => unitsOf(to)));
}
