import { mergeCharges, type Charge } from '../core/charge.ts';

/** Parts of a window that admissions are told apart by. */
const PARTS = 8;
/** Counts of a key in a part of a window: so many take some 10 MB. */
const MOST_COUNTS = 100_000;

/** What the border of a part may be off by. */
const ROUNDING_MS = 1e-3;

/** What was admitted in one part of a window. */
interface Part {
  readonly index: number;
  readonly units: Map<string, number>;
  /** Calls that were given back, so that none is twice. */
  readonly givenBack: Set<string>;
  /** When keys were drained, so that what was counted before is not taken from what is counted after. */
  readonly drainedAt: Map<string, number>;
}

/** Units of some moments, the oldest first. */
export type Admissions = readonly { readonly at: number; readonly units: number }[];

/**
 * Counts what another store admitted in the windows that end now, at little cost: by key and part of the window, the
 * oldest part being dropped as a whole. Every unit counts as admitted at the end of its part, so it is counted up to an
 * eighth of the window too long, never too short. All times are milliseconds of one clock that never steps back.
 */
export class RecentAdmissions {
  readonly #partsByWindow = new Map<number, Part[]>();
  #counts = 0;

  record(charges: readonly Charge[], now: number): void {
    for (const { key, windowMs, cost, isAlwaysTracked } of mergeCharges(charges).merged) {
      const { units } = this.#partAt(windowMs, now);
      const known = units.get(key);
      if (known === undefined) {
        if (this.#counts >= MOST_COUNTS && !isAlwaysTracked) continue;
        this.#counts++;
      }
      units.set(key, (known ?? 0) + cost);
    }
  }

  /** Takes back what a call took at this moment: once, and unless it was drained or has left the window. */
  giveBack(id: string, charges: readonly Charge[], at: number): void {
    for (const { key, windowMs, cost } of mergeCharges(charges).merged) {
      const part = this.#partsByWindow.get(windowMs)?.find(({ index }) => index === partIndex(windowMs, at));
      const units = part?.units.get(key);
      const name = `${id} ${key}`;
      if (units === undefined || part!.givenBack.has(name) || at <= (part!.drainedAt.get(key) ?? -Infinity)) continue;
      part!.givenBack.add(name);
      if (units > cost) part!.units.set(key, units - cost);
      else this.#delete(part!, key);
    }
  }

  /** Hands out what is counted for this key in its window, which is counted here no longer. */
  drain({ key, windowMs }: Charge, now: number): Admissions {
    this.#dropStale(windowMs, now);
    return (this.#partsByWindow.get(windowMs) ?? []).flatMap((part) => {
      const units = part.units.get(key);
      if (units === undefined) return [];
      this.#delete(part, key);
      part.drainedAt.set(key, now);
      return [{ at: Math.min(now, ((part.index + 1) * windowMs) / PARTS + ROUNDING_MS), units }];
    });
  }

  #partAt(windowMs: number, now: number): Part {
    const index = partIndex(windowMs, now);
    const newest = this.#partsByWindow.get(windowMs)?.at(-1);
    if (newest?.index === index) return newest;
    for (const other of this.#partsByWindow.keys()) this.#dropStale(other, now);
    const part: Part = { index, units: new Map(), givenBack: new Set(), drainedAt: new Map() };
    const parts = this.#partsByWindow.get(windowMs);
    if (parts) parts.push(part);
    else this.#partsByWindow.set(windowMs, [part]);
    return part;
  }

  #dropStale(windowMs: number, now: number): void {
    const parts = this.#partsByWindow.get(windowMs);
    const oldest = partIndex(windowMs, now) - PARTS;
    while (parts?.[0] && parts[0].index < oldest) this.#counts -= parts.shift()!.units.size;
    if (parts?.length === 0) this.#partsByWindow.delete(windowMs);
  }

  #delete(part: Part, key: string): void {
    if (part.units.delete(key)) this.#counts--;
  }
}

const partIndex = (windowMs: number, at: number): number => Math.floor((at * PARTS) / windowMs);
