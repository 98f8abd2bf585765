import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge } from '../../src/core/charge.ts';
import type { SupervisedStore, StoreHealth } from '../../src/core/store-health.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { RefusalCacheStore } from '../../src/memory/refusal-cache-store.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';

class HealthyStore extends MemoryStore implements SupervisedStore {
  asked = 0;

  override consume(request: Parameters<MemoryStore['consume']>[0]) {
    this.asked++;
    return super.consume(request);
  }

  health(): StoreHealth {
    return { state: 'available', since: 0, circuit: 'closed' };
  }
}

const setUp = () => {
  const clock = new ManualClock(1_000_000);
  const [inner, alone] = [new HealthyStore({ now: clock.now }), new MemoryStore({ now: clock.now })];
  const cached = new RefusalCacheStore(inner, clock.now);
  let calls = 0;
  /** Asks both, and sees that they answer alike. */
  const consume = async (budget: Charge) => {
    const request = { id: `r${calls++}`, charges: [budget] };
    const [told, expected] = [await cached.consume(request), await alone.consume(request)];
    const of = (decision: typeof told) => [decision.allowed, decision.allowed ? 0 : decision.retryAfterMs];
    expect(of(told)).toEqual(of(expected));
    return told;
  };
  return { clock, inner, consume };
};
const CLIMBING = { limit: 90, warmUp: { overMs: 8_000, coldFactor: 3 } };

describe('a refusal that is remembered while the limit climbs', () => {
  it('ends as soon as there is room by the limit that is reached', async () => {
    const { clock, inner, consume } = setUp();
    const budget = charge({ ...CLIMBING, windowMs: 10_000 });
    while ((await consume(budget)).allowed);
    const { asked } = inner;
    const decision = await consume(budget);
    expect(inner.asked).toBe(asked);
    // The limit grows by one long before anything leaves the window.
    const retryAfterMs = decision.allowed ? 0 : decision.retryAfterMs!;
    expect(retryAfterMs).toBeLessThan(1_000);
    clock.advance(retryAfterMs - 1);
    expect(await consume(budget)).toMatchObject({
      allowed: false,
      decidedBy: 'cache',
      retryAfterMs: 1,
      refusedBy: [{ warmUp: CLIMBING.warmUp }],
    });
    clock.advance(1);
    expect((await consume(budget)).allowed).toBe(true);
  });

  it('does not stand for another climb on the same log', async () => {
    const { inner, consume } = setUp();
    const budget = charge(CLIMBING);
    while ((await consume(budget)).allowed);
    const { asked } = inner;
    const faster = { ...budget, warmUp: { overMs: 4_000, coldFactor: 3 } };
    const milder = { ...budget, warmUp: { overMs: 8_000, coldFactor: 2 } };
    for (const other of [{ ...budget, warmUp: undefined }, faster, milder]) expect(await consume(other)).toBeDefined();
    expect(inner.asked).toBe(asked + 3);
  });

  it('answers as the store would, whatever comes before', async () => {
    const rules = fc.record({
      limit: fc.integer({ min: 1, max: 30 }),
      windowMs: fc.integer({ min: 20, max: 3_000 }),
      cost: fc.integer({ min: 1, max: 3 }),
      warmUp: fc.record({ overMs: fc.integer({ min: 1, max: 8_000 }), coldFactor: fc.constantFrom(1.2, 3, 10) }),
    });
    const steps = fc.array(fc.record({ waitMs: fc.nat(300), calls: fc.nat(12) }), { minLength: 5, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(rules, steps, async (rule, history) => {
        const { clock, consume } = setUp();
        const budget = charge(rule);
        for (const { waitMs, calls } of history) {
          clock.advance(waitMs);
          for (let i = 0; i < calls; i++) expect(await consume(budget)).toBeDefined();
        }
      }),
      { numRuns: 200 },
    );
  });
});
