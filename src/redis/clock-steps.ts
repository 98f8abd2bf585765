/** Smaller steps are told apart neither from the way of a reply nor from a clock that is slewed. */
const LEAST_STEP_MS = 500;

/** Notices when the clock of a server steps, from the times in its replies. */
export class ClockSteps {
  readonly #tell: (byMs: number) => void;
  /** By how much the server's clock was ahead of this process's at the last reply, at least and at most. */
  #least = -Infinity;
  #most = Infinity;

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
    const byMs = least > this.#most ? least - this.#most : most < this.#least ? most - this.#least : 0;
    if (Math.abs(byMs) >= LEAST_STEP_MS) this.#tell(Math.round(byMs));
    this.#least = least;
    this.#most = most;
  }
}
