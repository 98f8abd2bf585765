/** The clock of this process, and what is to be done at a moment of it. Tests give their own. */
export interface Moments {
  /** Milliseconds of a clock that never steps back. */
  readonly now: () => number;
  /** Calls once, at this moment or soon after, never before. @returns what takes that back */
  readonly at: (moment: number, call: () => void) => () => void;
}

/** Node's timers fire at once for longer times. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A call that waits is work to be done: its timer keeps the process alive, as that of an awaited `setTimeout` does. */
export const processMoments: Moments = {
  now: () => performance.now(),
  at(moment, call) {
    let timer: NodeJS.Timeout;
    // Timers count whole milliseconds, so they may be early by a part of one.
    const arm = (): void => {
      const leftMs = moment - performance.now();
      if (leftMs <= 0) call();
      else timer = setTimeout(arm, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
    };
    timer = setTimeout(arm, Math.min(Math.max(0, Math.ceil(moment - performance.now())), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
