import type { RateLimiter } from '../nest/rate-limiter.ts';
import type { RuleBook } from '../nest/rule-book.ts';
import { Measures, type Instruments } from './measures.ts';
import type { WatchedStores } from './watched-stores.ts';

/** What is measured, and with what. */
interface Subject {
  readonly limiter: RateLimiter;
  readonly rules: RuleBook;
  readonly stores: WatchedStores;
  readonly instruments: Instruments;
}

/** Measures an application until the function that is returned is called. Nothing is done where it is measured already. */
export function startMeasuring({ limiter, rules, stores, instruments }: Subject): () => void {
  if (!stores.add(limiter)) return () => undefined;
  const measures = new Measures(limiter, rules, instruments);
  return () => {
    measures.stop();
    stores.delete(limiter);
  };
}
