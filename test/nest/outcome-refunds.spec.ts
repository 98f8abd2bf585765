import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import fc from 'fast-check';
import { of, throwError, type Observable } from 'rxjs';
import { callIds } from '../../src/core/call-id.ts';
import type { Charge } from '../../src/core/charge.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import type { OutcomeCount } from '../../src/nest/outcome.ts';
import { outcomeInterceptor } from '../../src/nest/outcome-interceptor.ts';
import { OutcomeRefunds } from '../../src/nest/outcome-refunds.ts';
import type { RuleCharge } from '../../src/nest/rule-charges.ts';
import { RuleLog } from '../../src/nest/rule-log.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { HttpTransport } from '../../src/transports/http-transport.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';
import { useRedis } from '../support/redis.ts';
import { ruleOf } from '../support/rules.ts';
import { WindowModel } from '../support/window-model.ts';

/** HTTP whose answers the test gives. */
class GivenAnswers extends HttpTransport {
  readonly #answers = new Map<unknown, (status: number | undefined) => void>();

  constructor() {
    super(() => undefined);
  }

  override followAnswer(context: ExecutionContext, answered: (status: number | undefined) => void): void {
    this.#answers.set(context.getArgByIndex(0), answered);
  }

  answer(context: ExecutionContext, status: number | undefined): void {
    this.#answers.get(context.getArgByIndex(0))?.(status);
  }
}

const newId = callIds();
const seen = (context: ExecutionContext, handle: () => Observable<unknown>) =>
  outcomeInterceptor.intercept(context, { handle }) as Observable<unknown>;
const contextOfRequest = (): ExecutionContext => new ExecutionContextHost([{}, {}]);

function setUp(store: RateLimitStore, deadlineMs = 50) {
  const transport = new GivenAnswers();
  const outcomes = new OutcomeRefunds({ store, transport, log: new RuleLog(), deadlineMs });

  /** One request, if it is admitted. */
  const request = async (charged: readonly RuleCharge[]) => {
    const id = newId();
    const asked = { id, charges: charged.map((each) => each.charge) };
    const decision = await store.consume(asked);
    if (!decision.allowed) return undefined;
    const context = contextOfRequest();
    const awaited = outcomes.follow(context, { request: asked, decision, charged, tookMs: 0 });
    return { id, charged, context, awaited, receipt: decision.receipt };
  };
  /** Lets the handler give a value or throw, or not be reached, and the answer be sent or not. */
  const end = (context: ExecutionContext, handler: 'value' | 'error' | 'none', status: number | undefined): void => {
    const handle = () => (handler === 'error' ? throwError(() => new Error('broken')) : of('fine'));
    if (handler !== 'none') seen(context, handle).subscribe({ error: () => undefined });
    transport.answer(context, status);
  };
  return { outcomes, request, end };
}

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
        await new Promise((resolve) => setTimeout(resolve, ms));
        done.push(asked.id);
      },
    };
    return { store, done };
  };

  it('is what is under way', async () => {
    const { store, done } = slowly(20);
    const { outcomes, request, end } = setUp(store, 5_000);
    const calls = [await request([counting('failed')]), await request([counting('failed')])];
    for (const call of calls) end(call!.context, 'value', 200);
    await outcomes.close();
    expect(done).toEqual(calls.map((call) => call!.id));
  });

  it('is waited for no longer than a decision', async () => {
    const { store, done } = slowly(2_000);
    const { outcomes, request, end } = setUp(store, 20);
    end((await request([counting('failed')]))!.context, 'value', 200);
    const since = performance.now();
    await outcomes.close();
    expect(performance.now() - since).toBeLessThan(1_000);
    expect(done).toEqual([]);
  });

  it('is nothing of requests whose outcome is known later', async () => {
    const { store, done } = slowly(0);
    const { outcomes, request, end } = setUp(store);
    const call = await request([counting('failed')]);
    await outcomes.close();
    end(call!.context, 'value', 200);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toEqual([]);
  });
});

it('a request is not followed for rules that count all', async () => {
  const { request } = setUp(new MemoryStore());
  expect((await request([counting('all')]))!.awaited).toBeUndefined();
});

it('what is charged after the outcome is known is given back at once', async () => {
  const store = new MemoryStore();
  const { request, end } = setUp(store);
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

const WINDOW_MS = 1_000;
type Ending = 'success' | 'failure' | 'keptOut' | 'clientLeft' | 'givenBack';
type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'request'; readonly cost: number; readonly which: readonly number[] }
  | { readonly do: 'end'; readonly which: number; readonly how: Ending };

const steps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 600 }) }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('request' as const),
        cost: fc.integer({ min: 1, max: 2 }),
        which: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('end' as const),
        which: fc.nat(),
        how: fc.constantFrom<Ending>('success', 'failure', 'keptOut', 'clientLeft', 'givenBack'),
      }),
    },
  ),
  { minLength: 10, maxLength: 60 },
) satisfies fc.Arbitrary<Step[]>;
const counts = fc.constantFrom<OutcomeCount>('all', 'failed', 'succeeded');
const rules = fc.tuple(
  counts,
  counts,
  counts,
  counts,
  fc.integer({ min: 2, max: 6 }),
  fc.constantFrom('exact', 'compact'),
);

/** Whether a rule counts a request that ended so, in words of the README. */
const staysCounted = (count: OutcomeCount, how: Ending): boolean => {
  if (how === 'givenBack') return false;
  if (how === 'clientLeft' || count === 'all') return true;
  return count === (how === 'success' ? 'succeeded' : 'failed');
};

const redis = useRedis();

describe.each<[string, number, (now: () => number) => RateLimitStore]>([
  ['in process', 300, (now) => new MemoryStore({ now })],
  ['in Redis', 60, (now) => new RedisStore(redis.client, { keyPrefix: redis.keyPrefix, now })],
])('random requests and outcomes, %s', (_, numRuns, create) => {
  it('leave counted exactly what counts, and never more than the limit in any window', async () => {
    // A script that has to be sent first would be overtaken by the next call.
    await new RedisStore(redis.client, { keyPrefix: redis.keyPrefix }).prepare();
    await fc.assert(
      fc.asyncProperty(rules, steps, async ([a, b, c, d, limit, layout], history) => {
        const clock = new ManualClock(1_000_000);
        const store = create(clock.now);
        const { request, end } = setUp(store);
        // The last two share a log.
        const logs = [1, 2, 3].map((more) =>
          charge({ limit: limit + more, windowMs: WINDOW_MS, layout: layout as 'exact' }),
        );
        const charged = [a, b, c, d].map((count, i) => ({ rule: ruleOf({ count }), charge: logs[Math.min(i, 2)]! }));
        const model = new WindowModel();
        type Pending = NonNullable<Awaited<ReturnType<typeof request>>> & {
          readonly at: number;
          readonly cost: number;
        };
        const pending: Pending[] = [];
        const counted: Admission[][] = logs.map(() => []);

        const endOf = (call: Pending, how: Ending): void => {
          if (how === 'success') end(call.context, 'value', 200);
          if (how === 'failure') end(call.context, 'error', 200);
          if (how === 'keptOut') end(call.context, 'none', 200);
          if (how === 'clientLeft') end(call.context, 'none', undefined);
          if (how === 'givenBack') {
            call.awaited?.drop();
            end(call.context, 'none', 429);
          }
        };

        for (const step of history) {
          if (step.do === 'wait') clock.advance(step.ms);
          else if (step.do === 'request') {
            const chosen = step.which.map((i) => ({
              ...charged[i]!,
              charge: { ...charged[i]!.charge, cost: step.cost },
            }));
            const distinct = [...new Map(chosen.map((each) => [each.charge.key, each.charge])).values()];
            const call = await request(chosen);
            expect(call !== undefined).toBe(model.consume(call?.id ?? newId(), distinct, clock.now()));
            if (call) pending.push({ ...call, at: clock.now(), cost: step.cost });
          } else if (pending.length > 0) {
            const [call] = pending.splice(step.which % pending.length, 1);
            endOf(call!, step.how);
            const charges = call!.charged.map((each) => each.charge);
            // As the later moment does when it refuses.
            if (step.how === 'givenBack') await store.refund({ id: call!.id, charges, receipt: call!.receipt });
            for (const [i, log] of logs.entries()) {
              const here = call!.charged.filter((each) => each.charge.key === log.key);
              if (here.length === 0) continue;
              if (here.some(({ rule }) => staysCounted(rule.count, step.how)))
                counted[i]!.push({ at: call!.at, units: call!.cost });
              else model.refund(call!.id, [log]);
            }
          }
          const { budgets } = await store.peek(logs);
          expect(budgets.map(({ remaining }) => remaining)).toEqual(
            logs.map((log) => model.remaining(log, clock.now())),
          );
          for (const [i, log] of logs.entries()) {
            const live = counted[i]!.filter(({ at }) => at > clock.now() - WINDOW_MS);
            expect(budgets[i]!.remaining).toBeLessThanOrEqual(
              log.limit - live.reduce((sum, { units }) => sum + units, 0),
            );
          }
        }
        for (const [i, log] of logs.entries()) {
          expect(mostAdmittedInAnyWindow(counted[i]!, WINDOW_MS)).toBeLessThanOrEqual(log.limit);
        }
      }),
      { numRuns },
    );
  }, 60_000);
});
