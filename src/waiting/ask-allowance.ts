/** Asks of one queue at once. */
const MOST = 256;
/** Refusals that nothing was earned for yet. */
const AT_FIRST = 16;

/**
 * How many may ask at once. Others take from the same budget, so that of many asks many may be refused: a refusal has to
 * be earned by an admission. So a queue asks at most twice for each admission, but for the first in line, who asks once
 * whenever there is said to be room, and for what it begins with.
 */
export class AskAllowance {
  #earned = AT_FIRST;

  /** Given how many there was room for; the first in line may always ask. */
  most(room: number): number {
    return Math.max(1, Math.min(room, this.#earned));
  }

  earn(): void {
    this.#earned = Math.min(MOST, this.#earned + 1);
  }

  spend(): void {
    this.#earned = Math.max(0, this.#earned - 1);
  }
}
