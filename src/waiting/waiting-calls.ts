import { isAffordable, type Charge } from '../core/charge.ts';
import type { Allowed, Decision } from '../core/decision.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { CallQueue, type QueuedCall } from './call-queue.ts';
import { processMoments, type Moments } from './moments.ts';

/** Calls that wait in one process at most, for all budgets together. */
export const MOST_WAITING = 100_000;

/** How a call waits. */
export interface Patience {
  /** Milliseconds; a turn that comes later is not waited for. */
  readonly maxWaitMs: number;
  /** Calls of one queue at most; one more does not wait. */
  readonly maxQueued: number;
  /** Ends the wait. */
  readonly signal: AbortSignal | undefined;
}

export interface WaitingCallsParts {
  readonly store: Pick<RateLimitStore, 'consume' | 'refund'>;
  readonly nextId: () => string;
  readonly moments?: Moments;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

/** Calls that wait until a budget has room for them: one queue for each budget. */
export class WaitingCalls {
  readonly #parts: Required<WaitingCallsParts>;
  readonly #queues = new Map<string, CallQueue>();
  readonly #ends: (() => void)[] = [];
  #endedBy: { readonly error: unknown } | undefined;
  #waiting = 0;

  constructor(parts: WaitingCallsParts) {
    this.#parts = { moments: processMoments, random: Math.random, ...parts };
  }

  /**
   * Takes the charge when it is its turn. Denied as soon as it is known that this comes too late, or when too many wait
   * already. What an abort leaves taken is given back.
   */
  async acquire(charge: Charge, patience: Patience): Promise<Decision> {
    const { signal, maxQueued, maxWaitMs } = patience;
    signal?.throwIfAborted();
    if (this.#endedBy) throw this.#endedBy.error;
    // No waiting helps, and nobody has to stand behind it.
    if (!isAffordable(charge)) return this.#ask(charge);
    const queue = this.#queueOf(charge);
    const patientUntil = this.#parts.moments.now() + maxWaitMs;
    if (queue.length >= maxQueued || this.#waiting >= MOST_WAITING) {
      return queue.denialAtEnd({ charge, patientUntil });
    }
    this.#waiting++;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<Decision>((resolve, reject) => {
        const call: QueuedCall = { charge, patientUntil, resolve, reject };
        onAbort = (): void => {
          queue.leave(call);
          reject(signal!.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        queue.join(call);
      });
    } finally {
      this.#waiting--;
      signal?.removeEventListener('abort', onAbort!);
    }
  }

  /** Limits have changed: what refusals told of them does not hold any more. */
  askAgain(): void {
    for (const queue of this.#queues.values()) queue.askAgain();
  }

  /** Ends every wait with this error, those that begin later too. @returns when nothing is under way any more */
  async end(error: unknown): Promise<void> {
    this.#endedBy = { error };
    const ended = new Promise<void>((resolve) => this.#ends.push(resolve));
    for (const queue of this.#queues.values()) queue.end(error);
    this.#tellEnd();
    return ended;
  }

  #tellEnd(): void {
    if (this.#queues.size === 0) for (const tell of this.#ends.splice(0)) tell();
  }

  #queueOf(charge: Charge): CallQueue {
    // The key, in which clients choose a part, comes last: no two budgets meet.
    const { limit, windowMs, layout = '', warmUp, onStoreError = '', rule = '', key } = charge;
    const climb = warmUp ? `${warmUp.overMs}~${warmUp.coldFactor}` : '';
    const name = [limit, windowMs, layout, climb, onStoreError, rule, key].join(' ');
    let queue = this.#queues.get(name);
    if (!queue) {
      const { moments, random } = this.#parts;
      queue = new CallQueue({
        ask: (asked) => this.#ask(asked),
        giveBack: (unwanted) => this.#giveBack(unwanted),
        moments,
        random,
        onIdle: () => {
          this.#queues.delete(name);
          this.#tellEnd();
        },
      });
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #ask(charge: Charge): Promise<Decision> {
    return this.#parts.store.consume({ id: this.#parts.nextId(), charges: [charge] });
  }

  /** Best effort: at worst the charge stays for a window. */
  async #giveBack({ id, budgets, receipt }: Allowed): Promise<void> {
    if (budgets.length === 0) return;
    await this.#parts.store.refund({ id, charges: budgets, receipt }).catch(() => undefined);
  }
}
