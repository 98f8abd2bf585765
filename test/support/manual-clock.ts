/** Time as a test gives it: milliseconds. */
export class ManualClock {
  #now: number;

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;

  advance(ms: number): void {
    this.#now += ms;
  }
}
