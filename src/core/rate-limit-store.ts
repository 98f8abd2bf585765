import type { Charge } from './charge.ts';
import type { Decision, Preview } from './decision.ts';

/** One call that wants to take from budgets. */
export interface ConsumeRequest {
  /** Names the call, unique among all callers of the store's data: 1 to 64 letters, digits, `-` or `_`. */
  readonly id: string;
  /** What is decided together; at least one. */
  readonly charges: readonly Charge[];
  /** Milliseconds after which nobody waits for the answer, where that is sooner than the store's own deadline. */
  readonly withinMs?: number;
}

/** One call of which charges are given back. */
export interface RefundRequest {
  /** The call to give back. */
  readonly id: string;
  /** As they were charged; all of the call, or some: then all that the call charged on their logs. */
  readonly charges: readonly Charge[];
  /** The receipt of the decision; absent when the decision never arrived: then only exact logs give anything back. */
  readonly receipt?: string | undefined;
}

/**
 * Where budgets live. A store decides; it is the only clock.
 *
 * Every method may reject with {@link StoreUnavailableError} when the store cannot answer, and with
 * {@link RateLimitRequestError} when the request itself is wrong.
 */
export interface RateLimitStore {
  /**
   * Takes all charges or none, in one atomic step. At most `limit` units are admitted in any window (t − windowMs, t]
   * of a log, and a call is refused only when one of its logs has no room.
   *
   * - Charges on the same log (equal key and window) are merged: the smallest limit, the largest cost.
   * - Refused calls leave no trace.
   * - A charge of cost 0 takes nothing, and has room while there is room for one unit.
   * - Idempotent on exact logs: an id that was admitted is admitted again, uncharged, while one of its entries lives; a
   *   refused id is decided afresh. A refunded id is not used again. A compact log is charged again.
   */
  consume(request: ConsumeRequest): Promise<Decision>;
  /** What {@link consume} would answer now. Changes nothing. */
  peek(charges: readonly Charge[]): Promise<Preview>;
  /** Takes this call's own entries out again; nothing happens when they have left the window already. */
  refund(request: RefundRequest): Promise<void>;
  /** Makes the budgets whole. */
  reset(charges: readonly Charge[]): Promise<void>;
  /** Lets go of what the store opened itself. The module calls it once, when the application has shut down. */
  close?(): Promise<void>;
}
