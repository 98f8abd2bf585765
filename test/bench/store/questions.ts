import type { LoopResult } from './closed-loop.ts';
import type { Rule, Workload } from './workload.ts';

/** What the process of a limiter is asked. */
export interface StoreQuestion {
  /** Warms up, and uses up what is to be refused; or measures, on keys that were not used before. */
  readonly phase: 'prepare' | 'measure';
  readonly workload: Workload;
  readonly inFlight: number;
  readonly forMs: number;
  /** Sets the keys of one measurement apart from those of every other. */
  readonly cell: number;
}

export type StoreAnswer = LoopResult;

/** Asked to use up one key. */
export interface FillQuestion {
  readonly phase: 'fill';
  readonly rule: Rule;
  /** In which its requests come, evenly; 0 for as fast as it goes. */
  readonly forMs: number;
}
