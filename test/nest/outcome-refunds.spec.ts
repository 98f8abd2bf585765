import { describe, expect, it } from '@jest/globals';
import type { Charge } from '../../src/core/charge.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import type { OutcomeCount } from '../../src/nest/outcome.ts';
import type { RuleCharge } from '../../src/nest/rule-charges.ts';
import { charge } from '../contract/store-contract.ts';
import { followedRequests, newId } from '../support/followed-requests.ts';
import { ruleOf } from '../support/rules.ts';

const counting = (count: OutcomeCount, overrides: Partial<Charge> = {}): RuleCharge => ({
  rule: ruleOf({ count }),
  charge: charge(overrides),
});

describe('what is given back when the application closes', () => {
  /** A store whose refunds take their time. */
  const slowly = (ms: number) => {
    const memory = new MemoryStore();
    const done: string[] = [];
    const store: RateLimitStore = {
      consume: (asked) => memory.consume(asked),
      peek: (charges) => memory.peek(charges),
      reset: (charges) => memory.reset(charges),
      refund: async (asked) => {
        await new Promise((resolve) => setTimeout(resolve, ms).unref());
        done.push(asked.id);
      },
    };
    return { store, done };
  };

  it('is what is under way', async () => {
    const { store, done } = slowly(20);
    const { outcomes, request, end } = followedRequests(store, 5_000);
    const calls = [await request([counting('failed')]), await request([counting('failed')])];
    for (const call of calls) end(call!.context, 'value', 200);
    await outcomes.close();
    expect(done).toEqual(calls.map((call) => call!.id));
  });

  it('is waited for no longer than a decision', async () => {
    const { store, done } = slowly(2_000);
    const { outcomes, request, end } = followedRequests(store, 20);
    end((await request([counting('failed')]))!.context, 'value', 200);
    const since = performance.now();
    await outcomes.close();
    expect(performance.now() - since).toBeLessThan(1_000);
    expect(done).toEqual([]);
  });

  it('is nothing of requests whose outcome is known later', async () => {
    const { store, done } = slowly(0);
    const { outcomes, request, end } = followedRequests(store);
    const call = await request([counting('failed')]);
    await outcomes.close();
    end(call!.context, 'value', 200);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toEqual([]);
  });
});

it('a request is not followed for rules that count all', async () => {
  const { request } = followedRequests(new MemoryStore());
  expect((await request([counting('all')]))!.awaited).toBeUndefined();
});

it('what is charged after the outcome is known is given back at once', async () => {
  const store = new MemoryStore();
  const { request, end } = followedRequests(store);
  const [early, late] = [counting('failed'), counting('failed')];
  const call = await request([early]);
  end(call!.context, 'value', 200);
  const asked = { id: newId(), charges: [late.charge] };
  const decision = await store.consume(asked);
  if (!decision.allowed) throw new Error('the call was refused');
  call!.awaited!.add({ request: asked, decision, charged: [late], tookMs: 0 });
  expect(await store.peek([early.charge, late.charge])).toMatchObject({
    budgets: [{ remaining: 3 }, { remaining: 3 }],
  });
});
