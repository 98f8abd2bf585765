import type { Admission } from '../support/oracle.ts';
import { WINDOW_MS } from './rules.ts';
import { isAdmitted, type Visit } from './visit.ts';

/** The store's clock and ours may run apart by a thousandth. */
export const CLOCK_TOLERANCE_MS = WINDOW_MS / 1_000;

/**
 * The admissions among these visits, and the longest window of which it is certain that what lies in it was decided
 * within {@link WINDOW_MS}.
 *
 * An admission was decided between its sending and its answer and is dated half-way, so two of them may lie further
 * apart than their dates do, by half of each round trip: the window is shorter by the longest one. Noise can hide a
 * breach that is shorter than a round trip, and can never make one up.
 */
export function datedAdmissions(visits: readonly Visit[]): { admissions: readonly Admission[]; windowMs: number } {
  const admitted = visits.filter(isAdmitted);
  return {
    admissions: admitted.map(({ sentAt, answeredAt }) => ({ at: (sentAt + answeredAt) / 2, units: 1 })),
    windowMs: WINDOW_MS - longestRoundTripMs(admitted) - CLOCK_TOLERANCE_MS,
  };
}

export const longestRoundTripMs = (visits: readonly Visit[]): number =>
  Math.max(0, ...visits.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
