import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualMoments } from '../support/manual-moments.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';
import { DistantStore, WaitingProcess } from '../support/waiting-process.ts';

/** A generator of numbers from 0 to below 1 that a seed repeats. */
const randomFrom = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const arrival = fc.record({
  process: fc.nat(2),
  afterMs: fc.nat(60),
  cost: fc.integer({ min: 1, max: 3 }),
  maxWaitMs: fc.oneof(fc.constant(Infinity), fc.nat(300)),
  abortAfterMs: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(150) }),
});

describe('calls that wait in three processes', () => {
  it('never exceed the limit, keep their order, and all come to an end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrival, { minLength: 1, maxLength: 40 }),
        fc.constantFrom('exact', 'compact') as fc.Arbitrary<'exact' | 'compact'>,
        fc.integer({ min: 3, max: 6 }),
        fc.nat(),
        async (arrivals, layout, limit, seed) => {
          const moments = new ManualMoments();
          const random = randomFrom(seed);
          const inner = new MemoryStore({ now: moments.now });
          const admitted = new Map<string, Admission>();
          const dated: ConstructorParameters<typeof DistantStore>[0] = {
            consume: async (request) => {
              const decision = await inner.consume(request);
              const units = request.charges[0]!.cost;
              if (decision.allowed) admitted.set(decision.id, { at: moments.now(), units });
              return decision;
            },
            peek: (charges) => inner.peek(charges),
            refund: async (request) => {
              admitted.delete(request.id);
              await inner.refund(request);
            },
            reset: (charges) => inner.reset(charges),
          };
          const store = new DistantStore(dated, moments, () => random() * 4);
          const budget = charge({ limit, windowMs: 100, layout });
          const processes = [0, 1, 2].map(() => new WaitingProcess(store, moments, random));
          for (const [i, { process, afterMs, cost, maxWaitMs, abortAfterMs }] of arrivals.entries()) {
            await moments.advance(afterMs);
            const abort = new AbortController();
            processes[process]!.acquire(String(i), { ...budget, cost }, { maxWaitMs, signal: abort.signal });
            if (abortAfterMs !== undefined) moments.at(moments.now() + abortAfterMs, () => abort.abort('gone'));
          }
          await moments.runAll();

          expect(processes.flatMap(({ outcomes }) => outcomes)).toHaveLength(arrivals.length);
          for (const { admitted: names } of processes) {
            expect(names).toEqual([...names].sort((a, b) => Number(a) - Number(b)));
          }
          expect(mostAdmittedInAnyWindow([...admitted.values()], 100)).toBeLessThanOrEqual(limit);
          // What nobody got is not taken.
          const allowed = processes.flatMap(({ outcomes }) => outcomes.flatMap(({ decision }) => decision ?? []));
          const ids = allowed.flatMap((decision) => (decision.allowed ? [decision.id] : []));
          expect([...admitted.keys()].sort()).toEqual(ids.sort());
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  it.each([
    [1, 4, 250, 50],
    [20, 4, 250, 50],
    [1, 1, 1_000, 50],
    [1, 16, 60, 50],
    [1, 4, 50, 10],
  ])(
    'at %s ms from the store, %s processes with %s calls each, take the least number of windows and two asks for each',
    async (roundTripMs, processCount, calls, limit) => {
      const moments = new ManualMoments();
      const random = randomFrom(7);
      const store = new DistantStore(new MemoryStore({ now: moments.now }), moments, () => random() * roundTripMs);
      const processes = Array.from({ length: processCount }, () => new WaitingProcess(store, moments, random));
      const budget = charge({ limit, windowMs: 1_000 });
      for (let i = 0; i < calls; i++) for (const process of processes) process.acquire(String(i), budget);
      await moments.runAll();

      const total = calls * processCount;
      const leastWindows = Math.ceil(total / limit) - 1;
      const inOrder = Array.from({ length: calls }, (_, i) => String(i));
      for (const { admitted } of processes) expect(admitted).toEqual(inOrder);
      const ends = processes.map(({ outcomes }) => outcomes.at(-1)!.at);
      const aWindowTakesMs = 1_010 + 4 * roundTripMs;
      expect(Math.max(...ends)).toBeLessThan(leastWindows * aWindowTakesMs + 200);
      expect(store.askedAt.length).toBeLessThanOrEqual(2 * total);
    },
    60_000,
  );
});
