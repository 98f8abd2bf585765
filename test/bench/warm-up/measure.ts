import type { Charge } from '../../../src/core/charge.ts';
import { callIds } from '../../../src/core/call-id.ts';
import type { RateLimitStore } from '../../../src/core/rate-limit-store.ts';
import type { ManualClock } from '../../support/manual-clock.ts';

/** The rule of the README. */
export const RULE = { limit: 90, windowMs: 1_000, warmUp: { overMs: 30_000, coldFactor: 3 } } as const;
/** So long it is used up, until nothing of the climb is left; and then idle. */
export const USED_FOR_MS = 46_000;
export const IDLE_FOR_MS = 34_000;
/** Clients come so often. */
const STEP_MS = 50;
const CLIMB_POINT_EVERY_MS = 1_500;
const COOLING_POINT_EVERY_MS = 2_000;

/** What was admitted in the window that ends at this moment, counted from the first call. */
export interface Found {
  readonly atMs: number;
  readonly units: number;
}

const nextId = callIds();
const keyed = (key: string): Charge => ({ ...RULE, key: `{plot}:${key}`, cost: 1 });

async function useUp(store: RateLimitStore, charge: Charge): Promise<number> {
  for (let units = 0; ; units++) {
    const { allowed } = await store.consume({ id: nextId(), charges: [charge] });
    if (!allowed) return units;
  }
}

/**
 * Uses budgets up from the first moment on, and leaves each idle for a time of its own, at whose end it is used up once
 * more: a point says what the store really admitted.
 */
export async function measure(
  store: RateLimitStore,
  clock: ManualClock,
): Promise<{ readonly climbing: readonly Found[]; readonly cooling: readonly Found[] }> {
  const startedAt = clock.now();
  const idleMs: number[] = [];
  for (let ms = RULE.windowMs; ms <= IDLE_FOR_MS; ms += COOLING_POINT_EVERY_MS) idleMs.push(ms);
  const charges = idleMs.map((ms) => keyed(`idle-for-${ms}`));
  const admitted: Found[] = [];
  const climbing: Found[] = [];
  for (let atMs = 0; atMs <= USED_FOR_MS; atMs += STEP_MS) {
    const [units] = (await Promise.all(charges.map((charge) => useUp(store, charge)))) as [number];
    admitted.push({ atMs, units });
    const inWindow = admitted.filter((found) => found.atMs > atMs - RULE.windowMs);
    if (atMs % CLIMB_POINT_EVERY_MS === 0) {
      climbing.push({ atMs, units: inWindow.reduce((sum, found) => sum + found.units, 0) });
    }
    clock.advance(STEP_MS);
  }
  const cooling: Found[] = [];
  for (const [i, ms] of idleMs.entries()) {
    const atMs = USED_FOR_MS + ms;
    clock.advance(startedAt + atMs - clock.now());
    cooling.push({ atMs, units: await useUp(store, charges[i]!) });
  }
  return { climbing, cooling };
}
