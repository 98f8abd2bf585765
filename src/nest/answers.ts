import type { ExecutionContext } from '@nestjs/common';

type Answer = { readonly value: unknown } | { readonly error: unknown };

/**
 * What the functions of rules say about one request at one moment: each is asked once, however many rules have it, and
 * what it gives, or fails with, is the answer for all of them.
 */
export class Answers {
  readonly #context: ExecutionContext;
  readonly #given = new Map<unknown, Answer>();

  constructor(context: ExecutionContext) {
    this.#context = context;
  }

  /** What the function gives, or the promise of it. @throws what it throws */
  of<T>(find: (context: ExecutionContext) => T): T {
    let answer = this.#given.get(find);
    if (!answer) this.#given.set(find, (answer = this.#ask(find)));
    if ('error' in answer) throw answer.error;
    return answer.value as T;
  }

  #ask(find: (context: ExecutionContext) => unknown): Answer {
    try {
      const value = find(this.#context);
      // A query of a database begins anew each time that it is awaited; a promise does not.
      return { value: isThenable(value) ? Promise.resolve(value) : value };
    } catch (error) {
      return { error };
    }
  }
}

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null)?.then === 'function';
