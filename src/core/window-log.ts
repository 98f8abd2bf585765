interface Entry {
  readonly at: number;
  readonly units: number;
}

/** The admitted calls of one budget in the order of their time; an entry that would come before another is dated like it. */
export class WindowLog {
  // A Map keeps the order in which calls were admitted, and finds one by its id.
  readonly #entries = new Map<string, Entry>();
  /** Calls whose units were taken from an entry that others share, and when that entry was admitted. */
  readonly #takenBack = new Map<string, number>();
  #units = 0;
  #newestAt = -Infinity;

  /** @param createdAt when its own units begin; in the caller's time */
  constructor(readonly createdAt: number) {}

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** When the newest call was admitted; -Infinity in an empty log. */
  get newestAt(): number {
    return this.#newestAt;
  }

  /** Units of the calls admitted later than `horizon`. */
  unitsAfter(horizon: number): number {
    let stale = 0;
    for (const { at, units } of this.#entries.values()) {
      if (at > horizon) break;
      stale += units;
    }
    return this.#units - stale;
  }

  /** When the nth oldest of the units later than `horizon` was admitted (from 1; there must be so many). */
  timeOfUnit(n: number, horizon: number): number {
    let seen = 0;
    for (const { at, units } of this.#entries.values()) {
      if (at > horizon) seen += units;
      if (seen >= n) return at;
    }
    throw new RangeError(`the log holds ${seen} units, not ${n}`);
  }

  /** Whether this call was admitted later than `horizon`. */
  holds(id: string, horizon: number): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.at > horizon;
  }

  /** Whether anything stands under this id, in the window or not. */
  has(id: string): boolean {
    return this.#entries.has(id);
  }

  add(id: string, at: number, units: number): void {
    this.remove(id);
    this.#newestAt = Math.max(at, this.#newestAt);
    this.#entries.set(id, { at: this.#newestAt, units });
    this.#units += units;
  }

  /** Adds to what stands under this id, dated anew. */
  addTo(id: string, at: number, units: number): void {
    this.add(id, at, units + (this.#entries.get(id)?.units ?? 0));
  }

  /** Takes units from what stands under this id, as far as it has any. */
  takeFrom(id: string, units: number): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    if (entry.units <= units) return this.remove(id);
    this.#entries.set(id, { at: entry.at, units: entry.units - units });
    this.#units -= units;
  }

  /** As {@link takeFrom}, but once for this call. */
  takeOnce(call: string, id: string, units: number): void {
    const entry = this.#entries.get(id);
    if (!entry || this.#takenBack.has(call)) return;
    this.#takenBack.set(call, entry.at);
    this.takeFrom(id, units);
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    this.#units -= entry.units;
    if (entry.at === this.#newestAt) {
      this.#newestAt = -Infinity;
      for (const { at } of this.#entries.values()) this.#newestAt = at;
    }
  }

  /** Forgets the calls admitted at `horizon` or earlier. */
  trim(horizon: number): void {
    for (const [call, at] of this.#takenBack) {
      if (at > horizon) break;
      this.#takenBack.delete(call);
    }
    for (const [id, { at, units }] of this.#entries) {
      if (at > horizon) return;
      this.#entries.delete(id);
      this.#units -= units;
    }
    this.#newestAt = -Infinity;
  }
}
