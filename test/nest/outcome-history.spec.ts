import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Charge, LogLayout } from '../../src/core/charge.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import type { OutcomeCount } from '../../src/nest/outcome.ts';
import type { RuleCharge } from '../../src/nest/rule-charges.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { charge } from '../contract/store-contract.ts';
import { followedRequests, newId } from '../support/followed-requests.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';
import { useRedis } from '../support/redis.ts';
import { ruleOf } from '../support/rules.ts';
import { WindowModel } from '../support/window-model.ts';

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
/** Three logs, of which the last is shared by two rules. */
const rules = fc
  .record({
    counts: fc.array(counts, { minLength: 4, maxLength: 4 }),
    limit: fc.integer({ min: 2, max: 6 }),
    layout: fc.constantFrom<LogLayout>('exact', 'compact'),
  })
  .map(({ counts: chosen, limit, layout }) => {
    const logs = [1, 2, 3].map((more) => charge({ limit: limit + more, windowMs: WINDOW_MS, layout }));
    return { logs, charged: chosen.map((count, i) => ({ rule: ruleOf({ count }), charge: logs[Math.min(i, 2)]! })) };
  });

/** Whether a rule counts a request that ended so, in words of the README. */
const staysCounted = (count: OutcomeCount, how: Ending): boolean => {
  if (how === 'givenBack') return false;
  if (how === 'clientLeft' || count === 'all') return true;
  return count === (how === 'success' ? 'succeeded' : 'failed');
};

interface Parts {
  readonly store: RateLimitStore;
  readonly clock: ManualClock;
  readonly logs: readonly Charge[];
  readonly charged: readonly RuleCharge[];
}

type Requests = ReturnType<typeof followedRequests>;
type Admitted = NonNullable<Awaited<ReturnType<Requests['request']>>>;
type Pending = Admitted & { readonly at: number; readonly cost: number };

function mustBe(found: unknown, expected: unknown): void {
  expect(found).toEqual(expected);
}

function mustBeAtMost(found: number, most: number): void {
  expect(found).toBeLessThanOrEqual(most);
}

/** Lets a history happen, and what must be so beside it. */
class History {
  /** What is counted for good, by log. */
  readonly counted: readonly Admission[][];
  readonly #parts: Parts;
  readonly #requests: Requests;
  readonly #model = new WindowModel();
  readonly #pending: Pending[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#requests = followedRequests(parts.store);
    this.counted = parts.logs.map(() => []);
  }

  async follow(step: Step): Promise<void> {
    const { clock, store, logs } = this.#parts;
    if (step.do === 'wait') clock.advance(step.ms);
    else if (step.do === 'request') await this.#ask(step.cost, step.which);
    else if (this.#pending.length > 0) {
      const [call] = this.#pending.splice(step.which % this.#pending.length, 1);
      await this.#end(call!, step.how);
    }
    const left = (await store.peek(logs)).budgets.map(({ remaining }) => remaining);
    mustBe(
      left,
      logs.map((log) => this.#model.remaining(log, clock.now())),
    );
    for (const [i, { limit }] of logs.entries()) mustBeAtMost(left[i]!, limit - this.#liveUnits(i));
  }

  async #ask(cost: number, which: readonly number[]): Promise<void> {
    const chosen = which
      .map((i) => this.#parts.charged[i]!)
      .map((each) => ({ ...each, charge: { ...each.charge, cost } }));
    const distinct = [...new Map(chosen.map((each) => [each.charge.key, each.charge])).values()];
    const call = await this.#requests.request(chosen);
    const at = this.#parts.clock.now();
    mustBe(call !== undefined, this.#model.consume(call?.id ?? newId(), distinct, at));
    if (call) this.#pending.push({ ...call, at, cost });
  }

  async #end(call: Pending, how: Ending): Promise<void> {
    const { id, context, awaited, receipt, charged } = call;
    const { end } = this.#requests;
    if (how === 'success') end(context, 'value', 200);
    if (how === 'failure') end(context, 'error', 200);
    if (how === 'keptOut') end(context, 'none', 200);
    if (how === 'clientLeft') end(context, 'none', undefined);
    if (how === 'givenBack') {
      // As the later moment does when it refuses.
      awaited?.drop();
      await this.#parts.store.refund({ id, charges: charged.map((each) => each.charge), receipt });
      end(context, 'none', 429);
    }
    for (const [i, log] of this.#parts.logs.entries()) {
      const here = charged.filter((each) => each.charge.key === log.key);
      if (here.some(({ rule }) => staysCounted(rule.count, how)))
        this.counted[i]!.push({ at: call.at, units: call.cost });
      else if (here.length > 0) this.#model.refund(id, [log]);
    }
  }

  #liveUnits(log: number): number {
    const horizon = this.#parts.clock.now() - WINDOW_MS;
    return this.counted[log]!.reduce((sum, { at, units }) => (at > horizon ? sum + units : sum), 0);
  }
}

const redis = useRedis();

describe.each<[string, number, (now: () => number) => RateLimitStore]>([
  ['in process', 300, (now) => new MemoryStore({ now })],
  ['in Redis', 60, (now) => new RedisStore(redis.client, { keyPrefix: redis.keyPrefix, now })],
])('random requests and outcomes, %s', (_, numRuns, create) => {
  it('leave counted exactly what counts, and never more than the limit in any window', async () => {
    // A script that has to be sent first would be overtaken by the next call.
    await new RedisStore(redis.client, { keyPrefix: redis.keyPrefix }).prepare();
    await fc.assert(
      fc.asyncProperty(rules, steps, async ({ logs, charged }, chosen) => {
        const clock = new ManualClock(1_000_000);
        const store = create(clock.now);
        const history = new History({ store, clock, logs, charged });
        for (const step of chosen) await history.follow(step);
        const most = history.counted.map((admissions) => mostAdmittedInAnyWindow(admissions, WINDOW_MS));
        for (const [i, { limit }] of logs.entries()) expect(most[i]).toBeLessThanOrEqual(limit);
        // A store in Redis keeps its data from run to run.
        await store.reset(logs);
      }),
      { numRuns },
    );
  }, 60_000);
});
