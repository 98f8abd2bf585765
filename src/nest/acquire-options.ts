import { parseDuration, type Duration } from '../core/duration.ts';
import { show } from '../core/show.ts';
import { parseWholeNumber } from '../core/whole-number.ts';
import { MOST_WAITING, type Patience } from '../waiting/waiting-calls.ts';

/** What a call says besides its rule and identity. */
export interface ConsumeOptions {
  /** Units taken; 0 takes nothing, and is refused while there is no room for one. @default the rule's cost */
  readonly cost?: number;
}

/** How a call waits for its turn. */
export interface AcquireOptions extends ConsumeOptions {
  /**
   * Denied as soon as it is known that its turn comes later, by seconds as a number, or `'500ms'`, `'10s'`, `'1m'`. The
   * store may take its `decisionTimeout` for the answer besides.
   * @default as long as it takes
   */
  readonly maxWait?: Duration;
  /**
   * Denied at once when so many calls of this process wait for the same budget: 1 to 100,000. So many wait at most for
   * all budgets together.
   * @default 1_000
   */
  readonly maxQueued?: number;
  /** Ends the wait: the call then rejects with the reason of the signal, and takes nothing. */
  readonly signal?: AbortSignal;
}

const DEFAULT_MAX_QUEUED = 1_000;

/** @throws TypeError that names the option and the value */
export function patienceOf({ maxWait, maxQueued = DEFAULT_MAX_QUEUED, signal }: AcquireOptions): Patience {
  const wrong = (option: string, value: unknown, fault: string): TypeError =>
    new TypeError(`RateLimiter: ${option} ${fault}, got ${show(value)}`);
  const wait = maxWait === undefined ? { ms: Infinity } : parseDuration(maxWait);
  if ('fault' in wait) throw wrong('maxWait', maxWait, wait.fault);
  const queued = parseWholeNumber(maxQueued, MOST_WAITING);
  if ('fault' in queued) throw wrong('maxQueued', maxQueued, queued.fault);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw wrong('signal', signal, 'must be an AbortSignal');
  }
  return { maxWaitMs: wait.ms, maxQueued: queued.value, signal };
}
