import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { callIds } from '../../src/core/call-id.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { consumeUpTo } from '../../src/nest/consume-up-to.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';
import { RecordingStore } from '../support/recording-store.ts';

const nextId = callIds();

/** Somebody else takes a unit each time between a look and the call that follows it. */
class ContestedStore extends RecordingStore {
  readonly #budget: ReturnType<typeof charge>;
  readonly #inner: MemoryStore;
  looks = 0;

  constructor(inner: MemoryStore, budget: ReturnType<typeof charge>) {
    super(inner);
    this.#inner = inner;
    this.#budget = budget;
  }

  override async peek(charges: Parameters<MemoryStore['peek']>[0]) {
    this.looks++;
    const preview = await super.peek(charges);
    await this.#inner.consume({ id: nextId(), charges: [{ ...this.#budget, cost: 1 }] });
    return preview;
  }
}

describe('taking up to so many units', () => {
  it('takes what is left of the limit, and never more than it in any window', async () => {
    const step = fc.record({ afterMs: fc.nat(60), units: fc.integer({ min: 1, max: 15 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const clock = new ManualClock(0);
        const store = new MemoryStore({ now: clock.now });
        const budget = charge({ limit: 10, windowMs: 100 });
        const admissions: Admission[] = [];
        for (const { afterMs, units } of steps) {
          clock.advance(afterMs);
          const alive = admissions.filter(({ at }) => at > clock.now() - 100);
          const room = 10 - alive.reduce((sum, each) => sum + each.units, 0);
          const decision = await consumeUpTo(store, { ...budget, cost: units }, nextId);
          const granted = decision.allowed ? decision.granted : 0;
          expect(granted).toBe(Math.min(units, room));
          const roomAt = Math.min(...alive.map(({ at }) => at)) + 100;
          expect(decision.allowed ? undefined : decision.retryAfterMs).toBe(
            room > 0 ? undefined : roomAt - clock.now(),
          );
          if (granted > 0) admissions.push({ at: clock.now(), units: granted });
        }
        expect(mostAdmittedInAnyWindow(admissions, 100)).toBeLessThanOrEqual(10);
      }),
    );
  });

  it('asks once where there is room for all', async () => {
    const store = new RecordingStore(new MemoryStore());
    await consumeUpTo(store, charge({ limit: 10, cost: 10 }), nextId);

    expect(store.consumed).toHaveLength(1);
  });

  it('takes at most 128 units of an exact log in one call', async () => {
    const budget = charge({ limit: 1_000, cost: 500, layout: 'exact' });
    expect(await consumeUpTo(new MemoryStore(), budget, nextId)).toMatchObject({ granted: 128 });
  });

  it('takes one unit when others were faster five times', async () => {
    const budget = charge({ limit: 20, cost: 20 });
    const inner = new MemoryStore();
    await inner.consume({ id: nextId(), charges: [{ ...budget, cost: 1 }] });
    const store = new ContestedStore(inner, budget);

    expect(await consumeUpTo(store, budget, nextId)).toMatchObject({ granted: 1 });
    expect(store.looks).toBe(6);
  });

  it('is denied when others took the last unit', async () => {
    const budget = charge({ limit: 2, cost: 2 });
    const inner = new MemoryStore();
    await inner.consume({ id: nextId(), charges: [{ ...budget, cost: 1 }] });

    expect(await consumeUpTo(new ContestedStore(inner, budget), budget, nextId)).toMatchObject({
      allowed: false,
      refusedBy: [{ cost: 1, remaining: 0 }],
    });
  });
});
