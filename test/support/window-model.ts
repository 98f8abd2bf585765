import type { Charge } from '../../src/core/charge.ts';
import { layoutOf } from '../../src/core/charge.ts';
import { mostAdmittedInAnyWindow } from './oracle.ts';

interface Entry {
  readonly id: string;
  readonly at: number;
  /** When it counts as admitted. */
  readonly stamp: number;
  readonly units: number;
}

/**
 * What a sliding window must answer, exact or compact, by brute force over a list of everything ever admitted: slow, and without
 * anything in common with the code under test.
 */
export class WindowModel {
  readonly #admitted = new Map<string, Entry[]>();

  /** Whether all charges have room at `now`, or the call was admitted already; records it where it is admitted. */
  consume(id: string, charges: readonly Charge[], now: number): boolean {
    const isRepeated = (charge: Charge): boolean =>
      layoutOf(charge) === 'exact' && this.#live(charge, now).some((entry) => entry.id === id);
    if (charges.some(isRepeated)) return true;
    if (!charges.every((charge) => this.#units(charge, now) + Math.max(1, charge.cost) <= charge.limit)) return false;
    for (const charge of charges) {
      if (charge.cost === 0) continue;
      this.#entries(charge).push({ id, at: now, stamp: stampOf(charge, now), units: charge.cost });
    }
    return true;
  }

  remaining(charge: Charge, now: number): number {
    return charge.limit - this.#units(charge, now);
  }

  refund(id: string, charges: readonly Charge[]): void {
    for (const charge of charges) {
      const kept = this.#entries(charge).filter((entry) => entry.id !== id);
      this.#admitted.set(nameOf(charge), kept);
    }
  }

  /** The most units, not counting refunded ones, in any window so far. */
  most(charge: Charge): number {
    return mostAdmittedInAnyWindow(this.#entries(charge), charge.windowMs);
  }

  #units(charge: Charge, now: number): number {
    return this.#live(charge, now).reduce((sum, { units }) => sum + units, 0);
  }

  #live(charge: Charge, now: number): readonly Entry[] {
    return this.#entries(charge).filter(({ stamp }) => stamp > now - charge.windowMs);
  }

  #entries(charge: Charge): Entry[] {
    const name = nameOf(charge);
    const entries = this.#admitted.get(name) ?? [];
    this.#admitted.set(name, entries);
    return entries;
  }
}

/** The end of the hundredth of the window in which the moment lies, reckoned in microseconds. */
function stampOf(charge: Charge, now: number): number {
  if (layoutOf(charge) === 'exact') return now;
  const length = charge.windowMs * 10;
  const micros = Math.round(now * 1_000);
  return (micros % length === 0 ? micros : micros - (micros % length) + length) / 1_000;
}

const nameOf = ({ key, windowMs }: Charge): string => `${key} ${windowMs}`;
