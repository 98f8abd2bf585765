import type { RateLimiter } from '../nest/rate-limiter.ts';
import { GAUGES, type GaugeInstrument, type GaugeName, type Reading } from './instruments.ts';

/** Makes one value of those of two stores. */
const COMBINE = {
  min: Math.min,
  max: Math.max,
  sum: (a: number, b: number) => a + b,
} as const satisfies Record<GaugeInstrument['aggregator'], (a: number, b: number) => number>;

/** The stores whose health is told in one place: those of all applications of the process that count there. */
export class WatchedStores {
  readonly #limiters = new Set<RateLimiter>();

  /** False where it is watched already: an application that imports the module twice is counted once. */
  add(limiter: RateLimiter): boolean {
    if (this.#limiters.has(limiter)) return false;
    this.#limiters.add(limiter);
    return true;
  }

  delete(limiter: RateLimiter): void {
    this.#limiters.delete(limiter);
  }

  /** What a gauge shows now; nothing where no application runs. */
  read(gauge: GaugeName): readonly Reading[] {
    const { read, aggregator }: GaugeInstrument = GAUGES[gauge];
    const byState = new Map<Reading['state'], Reading>();
    for (const limiter of this.#limiters) {
      for (const reading of read(limiter.health())) {
        const other = byState.get(reading.state);
        const value = other ? COMBINE[aggregator](other.value, reading.value) : reading.value;
        byState.set(reading.state, { ...reading, value });
      }
    }
    return [...byState.values()];
  }
}

const byTarget = new WeakMap<object, WatchedStores>();

/** The stores whose health is told to this registry or provider of meters. @param onFirst once, when there are none yet */
export function storesOf(target: object, onFirst?: (stores: WatchedStores) => void): WatchedStores {
  const known = byTarget.get(target);
  if (known) return known;
  const stores = new WatchedStores();
  byTarget.set(target, stores);
  onFirst?.(stores);
  return stores;
}
