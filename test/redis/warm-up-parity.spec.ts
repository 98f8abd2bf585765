import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Decision } from '../../src/core/decision.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { useRedis } from '../support/redis.ts';

const { client, keyPrefix } = useRedis();
let ids = 0;

/** Receipts are of each store's own. */
const withoutReceipt = (decision: Decision): object => ({ ...decision, receipt: undefined, memoryAgeMs: undefined });

const rules = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 128 }), fc.integer({ min: 129, max: 100_000 })),
  windowMs: fc.integer({ min: 1, max: 50 }).map((n) => n * 100),
  overMs: fc.integer({ min: 1, max: 20_000 }),
  coldFactor: fc.oneof(fc.constant(3), fc.double({ min: 1.01, max: 30, noNaN: true })),
});
const steps = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 20_000 })),
    /** Of the limit of a cold log. */
    share: fc.double({ min: 0, max: 1.1, noNaN: true }),
  }),
  { minLength: 5, maxLength: 40 },
);

it('the scripts and the process decide and tell the same of limits that climb', async () => {
  await fc.assert(
    fc.asyncProperty(rules, steps, async ({ limit, windowMs, overMs, coldFactor }, history) => {
      const clock = new ManualClock();
      const inRedis = new RedisStore(client, { keyPrefix, now: clock.now });
      const inProcess = new MemoryStore({ now: clock.now });
      const budget = charge({ limit, windowMs, warmUp: { overMs, coldFactor } });
      for (const { waitMs, share } of history) {
        clock.advance(waitMs);
        const charges = [{ ...budget, cost: Math.max(1, Math.ceil((share * limit) / coldFactor)) }];
        expect(await inRedis.peek(charges)).toEqual(await inProcess.peek(charges));
        const request = { id: `p${ids++}`, charges };
        const told = withoutReceipt(await inRedis.consume(request));
        const expected = withoutReceipt(await inProcess.consume(request));
        expect(told).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);
