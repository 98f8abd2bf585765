/**
 * The answer, or a rejection with `lateError()` after `ms` milliseconds. What the answer turns out to be after that is
 * ignored.
 */
export function within<T>(ms: number, answer: Promise<T>, lateError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(lateError()), ms);
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
