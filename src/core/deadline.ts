/** The most that a process's own delays add to a deadline, milliseconds. */
const LONGEST_GRACE_MS = 40;

/**
 * The answer, or a rejection with `lateError()` after `ms` milliseconds. What the answer turns out to be after that is
 * ignored.
 *
 * A busy process runs its timers late, and before it reads its sockets: the answer may be there already. So the time
 * by which the timer was late is given back, up to {@link LONGEST_GRACE_MS}, and what has arrived by then goes first.
 */
export function within<T>(ms: number, answer: Promise<T>, lateError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const dueAt = performance.now() + ms;
    const fail = (): void => void setImmediate(() => reject(lateError()));
    let timer = setTimeout(() => {
      const lateMs = performance.now() - dueAt;
      if (lateMs < 2) fail();
      else timer = setTimeout(fail, Math.min(lateMs, LONGEST_GRACE_MS));
    }, ms);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}
