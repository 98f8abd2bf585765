import type { Moments } from '../../src/waiting/moments.ts';
import { ManualClock } from './manual-clock.ts';

interface Alarm {
  readonly at: number;
  readonly call: () => void;
}

/** A clock and what is to be done at moments of it, as a test gives them. */
export class ManualMoments implements Moments {
  readonly clock: ManualClock;
  readonly #alarms = new Set<Alarm>();

  constructor(clock = new ManualClock(0)) {
    this.clock = clock;
  }

  readonly now = (): number => this.clock.now();

  readonly at = (moment: number, call: () => void): (() => void) => {
    const alarm = { at: moment, call };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  };

  /** The moments for which something is planned, the earliest first. */
  get planned(): readonly number[] {
    return [...this.#alarms].map(({ at }) => at).sort((a, b) => a - b);
  }

  /** Goes on by so many milliseconds, and does what is planned on the way in its order. */
  async advance(ms: number): Promise<void> {
    const end = this.now() + ms;
    await this.settle();
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) await this.#run(next);
    this.clock.advance(end - this.now());
  }

  /** Goes on until nothing is planned any more. */
  async runAll(): Promise<void> {
    await this.settle();
    for (let next = this.#next(); next; next = this.#next()) await this.#run(next);
  }

  /** Lets answers that are there arrive. */
  async settle(): Promise<void> {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  async #run(alarm: Alarm): Promise<void> {
    this.#alarms.delete(alarm);
    this.clock.advance(Math.max(0, alarm.at - this.now()));
    alarm.call();
    await this.settle();
  }

  #next(): Alarm | undefined {
    return [...this.#alarms].sort((a, b) => a.at - b.at)[0];
  }
}
