import { now } from './clock.ts';

const PROBE_MS = 10;
/** Less is what timers and sockets always take. */
const NOTABLE_MS = 5;

/** A time in which this process wanted to run, and the machine ran something else. */
export interface Theft {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

/**
 * Watches how late this process runs without its own doing: what it computed itself, however long that took, is no
 * excuse for a late answer and does not count.
 */
export function watchStolenTime(): readonly Theft[] {
  const thefts: Theft[] = [];
  let from = now();
  let used = process.cpuUsage();
  const probe = (): void => {
    const to = now();
    const { user, system } = process.cpuUsage(used);
    const ms = to - from - PROBE_MS - (user + system) / 1_000;
    if (ms > NOTABLE_MS) thefts.push({ from, to, ms });
    from = to;
    used = process.cpuUsage();
  };
  setInterval(probe, PROBE_MS).unref();
  return thefts;
}

/** How much was stolen of this time. */
export const stolenBetween = (thefts: readonly Theft[], from: number, to: number): number =>
  thefts.reduce((sum, theft) => (theft.from < to && theft.to > from ? sum + theft.ms : sum), 0);
