/** Smaller steps are told apart neither from the way of a reply nor from a clock that is slewed. */
const LEAST_STEP_MS = 500;
/** Milliseconds by which two clocks may drift apart in one: 500 parts in a million, as far as NTP slews. */
const DRIFT = 5e-4;

/** Notices when the clock of a server steps, from the times in its replies. */
export class ClockSteps {
  readonly #tell: (byMs: number) => void;
  /** By how much the server's clock was ahead of this process's at the last reply, at least and at most. */
  #least = -Infinity;
  #most = Infinity;
  #notedAt = 0;

  /** @param tell told of each step, in milliseconds; negative for a step back */
  constructor(tell: (byMs: number) => void) {
    this.#tell = tell;
  }

  /**
   * @param serverMs the server's time when it decided
   * @param sentAt this process's time before, milliseconds of a clock that does not step
   * @param receivedAt and after
   */
  note(serverMs: number, sentAt: number, receivedAt: number): void {
    const [least, most] = [serverMs - receivedAt, serverMs - sentAt];
    // Two clocks drift apart while nothing is heard.
    const driftMs = DRIFT * (receivedAt - this.#notedAt);
    const [lowest, highest] = [this.#least - driftMs, this.#most + driftMs];
    const byMs = least > highest ? least - highest : most < lowest ? most - lowest : 0;
    if (Math.abs(byMs) >= LEAST_STEP_MS) this.#tell(Math.round(byMs));
    this.#least = least;
    this.#most = most;
    this.#notedAt = receivedAt;
  }
}
