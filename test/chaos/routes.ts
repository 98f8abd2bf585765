import type { Theft } from './stolen-time.ts';

/** The rule of `GET /sale`, which more call than it admits, decided by policy `local`. */
export const SALE = { limit: 20, windowMs: 1_000 } as const;
/** Of `GET /address`, where every call comes from an address of its own: none is ever refused. */
export const ADDRESS_LIMIT = 5;
/** Of `GET /allow` and `GET /deny`, by the policies of these names: nobody reaches it. */
export const LARGE_LIMIT = 10_000;

/** What the application tells about itself. */
export interface Report {
  readonly url: string;
  readonly startedInMs: number;
  /** What was logged about the store. */
  readonly storeLines: readonly string[];
  /** Rejections that nobody handled, and worse. */
  readonly faults: readonly string[];
  /** In use after a garbage collection. */
  readonly heapBytes: number;
  readonly thefts: readonly Theft[];
}
