import type { Outcome } from './outcome.ts';

/** What became of the handler. */
type Result = { readonly error: unknown } | { readonly isWhole: boolean };

/**
 * What is known so far of how a request ends: from its handler by the interceptor, and from its answer. A failure that
 * is answered as a success stays one; an answer that nobody waited for leaves it to the handler; and where neither tells
 * (a stream that broke off, a handler that answers by itself to a client that left), the outcome stays unknown.
 */
export class PendingOutcome {
  readonly #settle: (outcome: Outcome) => void;
  #isReached = false;
  #result: Result | undefined;
  #answer: { readonly status: number | undefined } | undefined;
  #isSettled = false;

  /** @param settle called once, when the outcome is known; never, when it stays unknown */
  constructor(settle: (outcome: Outcome) => void) {
    this.#settle = settle;
  }

  /** All guards and outer interceptors let the request through. */
  reached(): void {
    this.#isReached = true;
  }

  /** @param isWhole whether the result is all of the answer: not so of streams, and of nothing, where the handler may answer itself */
  succeeded(isWhole: boolean): void {
    this.#ended({ isWhole });
  }

  /** @param error what the handler or a pipe threw */
  failed(error: unknown): void {
    this.#ended({ error });
  }

  /** @param status of the answer that was sent whole; undefined when the client left before */
  answered(status: number | undefined): void {
    // A connection closes behind a whole answer, too.
    if (this.#answer) return;
    this.#answer = { status };
    this.#review();
  }

  #ended(result: Result): void {
    this.#result = result;
    if (this.#answer) this.#review();
  }

  #review(): void {
    const outcome = this.#outcome(this.#answer!.status, this.#result);
    if (!outcome || this.#isSettled) return;
    this.#isSettled = true;
    this.#settle(outcome);
  }

  #outcome(status: number | undefined, result: Result | undefined): Outcome | undefined {
    if (result && 'error' in result) {
      return { failed: true, status: status ?? statusOf(result.error), error: result.error };
    }
    if (status !== undefined && (!this.#isReached || status >= 400)) return { failed: true, status };
    return result && (status !== undefined || result.isWhole) ? { failed: false, status } : undefined;
  }
}

/** Of an HttpException, whichever copy of Nest made it. */
function statusOf(error: unknown): number | undefined {
  const status: unknown = (error as { readonly status?: unknown } | null | undefined)?.status;
  return typeof status === 'number' ? status : undefined;
}
