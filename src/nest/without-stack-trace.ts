/**
 * Makes an error that does not record which calls led to it, where the process lets that be: for answers that happen to
 * be thrown. To record them takes more time than all the rest of a refusal, and an attack makes many.
 */
export function withoutStackTrace<E extends Error>(make: () => E): E {
  const { stackTraceLimit } = Error;
  // Refused where a process has frozen its intrinsics.
  if (!Reflect.set(Error, 'stackTraceLimit', 0)) return make();
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
