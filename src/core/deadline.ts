/**
 * The answer, or a rejection with `lateError()` after `ms` milliseconds. What the answer turns out to be after that is
 * ignored.
 */
export function within<T>(ms: number, answer: Promise<T>, lateError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // A busy process runs its timers late and before it reads its sockets: answers that are there already go first.
    const timer = setTimeout(() => setImmediate(() => reject(lateError())), ms);
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
