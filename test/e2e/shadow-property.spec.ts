import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type ExecutionContext } from '@nestjs/common';
import fc from 'fast-check';
import { RateLimit, RateLimiter, type DecisionEvent, type RateLimitOptions } from 'nestjs-floodgate';
import { requestOf } from '../support/authentication.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';

const WINDOW_MS = 1_000;
const clientOf = (context: ExecutionContext) => requestOf(context).headers['x-client']!;
const costOf = (context: ExecutionContext) => Number(requestOf(context).headers['x-cost']);

const ENFORCED: RateLimitOptions = { name: 'enforced', window: 1, limit: 3, key: clientOf };
const TRIED: RateLimitOptions = {
  name: 'tried',
  window: 1,
  limit: 4,
  cost: costOf,
  key: (context) => clientOf(context)[0]!,
};

function limitedBy(...rules: readonly RateLimitOptions[]) {
  @Controller()
  class TriedController {
    @RateLimit(...rules)
    @Get('page')
    get() {}
  }
  return [TriedController];
}

/** One request: how long after the last, by whom, at what cost. */
const requests = fc.array(
  fc.record({
    afterMs: fc.nat({ max: 600 }),
    client: fc.constantFrom('aa', 'ab', 'ba'),
    cost: fc.integer({ min: 1, max: 5 }),
  }),
  { maxLength: 25 },
);

describe('a rule in shadow', () => {
  const start = useApps();

  it('changes nothing about what is enforced, and would refuse what it refuses when it is enforced alone', async () => {
    const plain = await start('express', { controllers: limitedBy(ENFORCED) });
    const both = await start('express', { controllers: limitedBy(ENFORCED, { ...TRIED, mode: 'shadow' }) });
    const alone = await start('express', { controllers: limitedBy(TRIED) });
    const events: DecisionEvent[] = [];
    both.app.get(RateLimiter).decisions$.subscribe((event) => event.rule === 'tried' && events.push(event));

    await fc.assert(
      fc.asyncProperty(requests, async (sequence) => {
        events.length = 0;
        const admissions: { client: string; at: number; units: number }[] = [];
        for (const { afterMs, client, cost } of sequence) {
          for (const app of [plain, both, alone]) app.clock.advance(afterMs);
          const call = { headers: { 'x-client': client, 'x-cost': String(cost) } };
          const statusOf = async (app: LimitedApp): Promise<number> => (await app.get('/page', call)).status;
          const told = events.length;
          const status = await statusOf(both);

          expect(status).toBe(await statusOf(plain));
          expect(events.length - told).toBe(status === 200 ? 1 : 0);
          if (status !== 200) continue;
          const { outcome } = events.at(-1)!;
          expect(outcome).toBe((await statusOf(alone)) === 200 ? 'shadow-allowed' : 'shadow-refused');
          if (outcome === 'shadow-allowed') admissions.push({ client, at: both.clock.now(), units: cost });
        }
        for (const first of ['a', 'b']) {
          const those = admissions.filter(({ client }) => client.startsWith(first));
          expect(mostAdmittedInAnyWindow(those, WINDOW_MS)).toBeLessThanOrEqual(4);
        }
        // The next sequence begins with empty windows.
        for (const app of [plain, both, alone]) app.clock.advance(2 * WINDOW_MS);
      }),
      { numRuns: 30 },
    );
  }, 60_000);
});
