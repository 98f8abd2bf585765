/** A call that waits for its answer: a member of a ring of calls in the order of their deadlines. */
export interface Waiting {
  readonly dueAt: number;
  readonly onLate: () => void;
  before: Waiting;
  after: Waiting;
}

/** The most that the process's own delays add to a deadline, milliseconds. */
const LONGEST_GRACE_MS = 20;
/** A timer that is not later than this ran in time. */
const PUNCTUAL_MS = 2;

/**
 * Ends calls at their deadline, which is the same for all, with one timer for them together: a timer for each costs more
 * than the rest of a deadline.
 *
 * A busy process runs its timers late, and before it reads its sockets: the answers may be there already. So the time by
 * which the timer was late is given back, up to {@link LONGEST_GRACE_MS}, and what has arrived by then goes first.
 */
export class DeadlineQueue {
  readonly #deadlineMs: number;
  /** Where the ring begins and ends; no call itself. A ring lets go of a call the moment its answer comes. */
  readonly #border: Waiting;
  #timer: NodeJS.Timeout | undefined;
  #timerDueAt = 0;
  #isGrace = false;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
    const border = { dueAt: Infinity, onLate: () => undefined } as unknown as Waiting;
    border.before = border.after = border;
    this.#border = border;
  }

  /** @param onLate called at the deadline, unless {@link end} is called before */
  begin(onLate: () => void): Waiting {
    const border = this.#border;
    const last = border.before;
    const now = performance.now();
    const call: Waiting = { dueAt: now + this.#deadlineMs, onLate, before: last, after: border };
    last.after = border.before = call;
    if (!this.#timer) this.#arm(now);
    // A process may end when nothing waits, and only then.
    else if (last === border) this.#timer.ref();
    return call;
  }

  /** The answer has come; again, it changes nothing. */
  end(call: Waiting): void {
    call.before.after = call.after;
    call.after.before = call.before;
    call.before = call.after = call;
    if (this.#border.after === this.#border) this.#timer?.unref();
  }

  #arm(now: number): void {
    const next = this.#border.after;
    if (next === this.#border) return;
    this.#timerDueAt = Math.max(next.dueAt, now);
    this.#timer = setTimeout(this.#onTimer, this.#timerDueAt - now);
  }

  readonly #onTimer = (): void => {
    const now = performance.now();
    const lateMs = now - this.#timerDueAt;
    if (lateMs >= PUNCTUAL_MS && !this.#isGrace) {
      this.#isGrace = true;
      this.#timerDueAt = now + Math.min(lateMs, LONGEST_GRACE_MS);
      this.#timer = setTimeout(this.#onTimer, this.#timerDueAt - now);
      return;
    }
    this.#isGrace = false;
    setImmediate(this.#endDue, now);
  };

  readonly #endDue = (now: number): void => {
    this.#timer = undefined;
    for (let call = this.#border.after; call.dueAt <= now; call = this.#border.after) {
      this.end(call);
      call.onLate();
    }
    if (!this.#timer) this.#arm(performance.now());
  };
}
