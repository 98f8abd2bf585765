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
