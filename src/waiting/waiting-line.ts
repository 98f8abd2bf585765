import type { Charge } from '../core/charge.ts';

/** A call that waits for its turn. Moments are milliseconds of this process. */
export interface WaitingCall {
  readonly charge: Charge;
  /** It does not wait for a turn that comes later. */
  readonly patientUntil: number;
}

/** Those that wait for one budget, first come first served. */
export class WaitingLine<Call extends WaitingCall> {
  // Keeps the order in which they came, and lets anybody leave.
  readonly #calls = new Set<Call>();
  #units = 0;

  get first(): Call | undefined {
    return this.#calls.values().next().value;
  }

  get length(): number {
    return this.#calls.size;
  }

  /** What all that wait want to take. */
  get units(): number {
    return this.#units;
  }

  add(call: Call): void {
    this.#calls.add(call);
    this.#units += call.charge.cost;
  }

  /** @returns false for one that does not wait (any more) */
  remove(call: Call): boolean {
    const waited = this.#calls.delete(call);
    if (waited) this.#units -= call.charge.cost;
    return waited;
  }

  /** Takes out the first one if it wants so many units. */
  takeFirst(cost: number): Call | undefined {
    const { first } = this;
    return first?.charge.cost === cost && this.remove(first) ? first : undefined;
  }

  /** How many of the same cost stand together in front, counted up to a number. */
  countAlike(most: number): number {
    const cost = this.first?.charge.cost;
    let count = 0;
    for (const { charge } of this.#calls) {
      if (charge.cost !== cost || count >= most) break;
      count++;
    }
    return count;
  }

  /** Takes out those whose turn comes too late for them, given the turn after so many units: others then move up. */
  takeImpatient(turnAfter: (units: number) => number): readonly { readonly call: Call; readonly turnAt: number }[] {
    const taken: { call: Call; turnAt: number }[] = [];
    let units = 0;
    for (const call of this.#calls) {
      const turnAt = turnAfter(units + call.charge.cost);
      if (turnAt <= call.patientUntil) units += call.charge.cost;
      else if (this.remove(call)) taken.push({ call, turnAt });
    }
    return taken;
  }

  /** The moment at which the least patient one gives up. */
  get leastPatience(): number {
    let least = Infinity;
    for (const { patientUntil } of this.#calls) least = Math.min(least, patientUntil);
    return least;
  }

  takeAll(): readonly Call[] {
    const all = [...this.#calls];
    this.#calls.clear();
    this.#units = 0;
    return all;
  }
}
