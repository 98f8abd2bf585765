/** How much was forgotten: everything, or perhaps the last charges before another server took over. */
type Extent = 'all' | 'latest';

/** Knows for how long a server has kept all that it was told. */
export class MemoryAge {
  readonly #onForgotten: (extent: Extent) => void;
  readonly #now: () => number;
  /** The epochs seen last, by their keys; microseconds. */
  readonly #began = new Map<string, number>();
  /** When another server may have taken over with less than all; milliseconds of this process. */
  #doubtedAt = -Infinity;
  #suspectedAt = -Infinity;
  #isDoubtTold = true;

  /** @param onForgotten told of every loss when a decision shows it: on a Cluster, for each slot */
  constructor(onForgotten: (extent: Extent) => void, now: () => number = () => performance.now()) {
    this.#onForgotten = onForgotten;
    this.#now = now;
  }

  /** Only what the servers are told from now on is sure to be kept: another one decides, or one was restarted. */
  doubt({ isTold = false } = {}): void {
    this.#doubtedAt = this.#now();
    this.#isDoubtTold = isTold;
  }

  /** A connection was lost: until it is known what stands behind the next one, nothing is sure to be kept. */
  suspect(): void {
    this.#suspectedAt = Math.max(this.#suspectedAt, this.#now());
  }

  /** It is the same servers as before. */
  clear(): void {
    this.#suspectedAt = -Infinity;
  }

  /** Milliseconds. @param began the epoch in a decision of the moment `decidedAt`, both in microseconds */
  of(epochKey: string, began: number, decidedAt: number): number {
    const known = this.#began.get(epochKey);
    if (known !== began) this.#began.set(epochKey, began);
    if (known !== undefined && began > known) this.#tell('all');
    else if (!this.#isDoubtTold) this.#tell('latest');
    const doubtedAt = Math.max(this.#doubtedAt, this.#suspectedAt);
    return Math.min((decidedAt - began) / 1_000, this.#now() - doubtedAt);
  }

  #tell(extent: Extent): void {
    this.#isDoubtTold = true;
    this.#onForgotten(extent);
  }
}
