import { mergeCharges, type Charge } from '../core/charge.ts';
import type { RefundRequest } from '../core/rate-limit-store.ts';

/** Parts of a window that admissions are told apart by. */
const PARTS = 8;
/** Keys that may begin to be counted in a window while so many counts stand: those that are counted go on being. */
const MOST_COUNTS = 100_000;
/** Windows of different lengths. */
const MOST_WINDOWS = 1_000;
/** What the border of a part may be off by. */
const ROUNDING_MS = 1e-3;

/** What was admitted in one part of a window. */
interface Part {
  readonly index: number;
  readonly units: Map<string, number>;
  /** Calls that were given back, so that none is twice. */
  readonly givenBack: Set<string>;
  /** When keys were drained: what was counted before is not to be taken from what is counted after. */
  readonly drainedAt: Map<string, number>;
}

/** Units of one part of a window. */
export interface Admitted {
  /** Names the part. */
  readonly part: number;
  /** When they count as admitted, milliseconds. */
  readonly at: number;
  readonly units: number;
}

/**
 * Counts what another store admitted in the windows that end now, at little cost: by key and part of the window, the
 * oldest part being dropped as a whole. Every unit counts as admitted at the end of its part, so it is counted up to an
 * eighth of the window too long, never too short. All times are milliseconds of one clock that never steps back.
 */
export class RecentAdmissions {
  readonly #partsByWindow = new Map<number, Part[]>();
  /** Calls that are known to have been given back, in all parts. */
  #givenBack = 0;

  /** @returns whether all were counted; keys that no client chooses always are */
  record(charges: readonly Charge[], now: number): boolean {
    let isCounted = true;
    for (const { key, windowMs, cost, isAlwaysTracked = false } of mergeCharges(charges).merged) {
      if (cost === 0) continue;
      const part = this.#partAt(windowMs, now);
      const known = part?.units.get(key);
      if (part && (known !== undefined || isAlwaysTracked || this.#mayBegin(key, windowMs))) {
        part.units.set(key, (known ?? 0) + cost);
      } else {
        isCounted = false;
      }
    }
    return isCounted;
  }

  /**
   * Takes back what a call took at this moment: once, and unless it has left the window.
   *
   * @param isElsewhere whether a charge is counted elsewhere by the id of the call
   * @returns the charges that were drained since, and the part that they were counted in
   */
  giveBack(
    { id, charges }: Pick<RefundRequest, 'id' | 'charges'>,
    at: number,
    now: number,
    isElsewhere: (charge: Charge) => boolean = () => false,
  ): readonly { readonly charge: Charge; readonly part: number }[] {
    return mergeCharges(charges).merged.flatMap((charge) => {
      const { key, windowMs, cost } = charge;
      if (cost === 0) return [];
      const index = partIndex(windowMs, at);
      const part = this.#partsByWindow.get(windowMs)?.find((other) => other.index === index);
      const name = `${id} ${key}`;
      // Without room to know that it was given back, it stays counted.
      if (!part || part.givenBack.has(name) || this.#givenBack >= MOST_COUNTS) return [];
      part.givenBack.add(name);
      this.#givenBack++;
      // Moments are rounded up to the millisecond.
      if (at - 1 <= now - windowMs || isElsewhere(charge)) return [];
      if (at <= (part.drainedAt.get(key) ?? -Infinity)) return [{ charge, part: index }];
      const units = part.units.get(key) ?? 0;
      if (units > cost) part.units.set(key, units - cost);
      else part.units.delete(key);
      return [];
    });
  }

  /**
   * Hands out what is counted for this key in its window, the oldest first; it is counted here no longer.
   *
   * @param before only parts that began before this moment
   */
  drain({ key, windowMs }: Charge, now: number, before = Infinity): readonly Admitted[] {
    this.#dropStale(windowMs, now);
    return (this.#partsByWindow.get(windowMs) ?? []).flatMap(({ index, units, drainedAt }) => {
      const counted = units.get(key);
      if (counted === undefined || (index * windowMs) / PARTS >= before) return [];
      units.delete(key);
      drainedAt.set(key, now);
      return [{ part: index, at: Math.min(now, ((index + 1) * windowMs) / PARTS + ROUNDING_MS), units: counted }];
    });
  }

  #mayBegin(key: string, windowMs: number): boolean {
    const parts = this.#partsByWindow.get(windowMs)!;
    const counts = parts.reduce((sum, { units }) => sum + units.size, 0);
    return counts < MOST_COUNTS || parts.some(({ units }) => units.has(key));
  }

  /** The part of now; undefined where there is no room for another window. */
  #partAt(windowMs: number, now: number): Part | undefined {
    const index = partIndex(windowMs, now);
    const parts = this.#partsByWindow.get(windowMs);
    const newest = parts?.at(-1);
    if (newest && newest.index >= index) return newest;
    if (parts) this.#dropStale(windowMs, now);
    else if (!this.#hasRoomForWindow(now)) return undefined;
    const part: Part = { index, units: new Map(), givenBack: new Set(), drainedAt: new Map() };
    const left = this.#partsByWindow.get(windowMs);
    if (left) left.push(part);
    else this.#partsByWindow.set(windowMs, [part]);
    return part;
  }

  #hasRoomForWindow(now: number): boolean {
    if (this.#partsByWindow.size < MOST_WINDOWS) return true;
    for (const windowMs of this.#partsByWindow.keys()) this.#dropStale(windowMs, now);
    return this.#partsByWindow.size < MOST_WINDOWS;
  }

  #dropStale(windowMs: number, now: number): void {
    const parts = this.#partsByWindow.get(windowMs);
    const oldest = partIndex(windowMs, now) - PARTS;
    while (parts?.[0] && parts[0].index < oldest) this.#givenBack -= parts.shift()!.givenBack.size;
    if (parts?.length === 0) this.#partsByWindow.delete(windowMs);
  }
}

const partIndex = (windowMs: number, at: number): number => Math.floor((at * PARTS) / windowMs);
