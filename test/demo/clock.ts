/** Milliseconds, with fractions, on one scale for all processes of a machine; within a process it never steps back. */
export const clockMs = (): number => performance.timeOrigin + performance.now();
