import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  callIds,
  MemoryStore,
  StoreUnavailableError,
  type ConsumeRequest,
  type Decision,
  type Denied,
} from 'nestjs-floodgate';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { FailurePolicyStore } from '../../src/failure/failure-policy-store.ts';
import { LocalFallback } from '../../src/failure/local-fallback.ts';
import { StoreEvents } from '../../src/failure/store-events.ts';
import { RefusalCacheStore } from '../../src/memory/refusal-cache-store.ts';
import { Blocks } from '../../src/nest/blocks.ts';
import type { RuleCharge } from '../../src/nest/rule-charges.ts';
import type { Rule } from '../../src/nest/rule.ts';
import { ruleKey } from '../../src/nest/rule-key.ts';
import { FailingLink } from '../support/failing-link.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import { RecordingStore } from '../support/recording-store.ts';
import { ruleOf } from '../support/rules.ts';

const BLOCK = { after: 3, withinMs: 1_000, forMs: 60_000 };

type Wrap = (store: RateLimitStore, now: () => number) => RateLimitStore;

const supervised: Wrap = (store, now) => {
  const local = new LocalFallback({ instances: () => 1, onFull: () => undefined, now });
  return new FailurePolicyStore(store, { onStoreError: 'local', events: new StoreEvents(() => undefined, now), local });
};
const remembering: Wrap = (store, now) => new RefusalCacheStore(supervised(store, now) as FailurePolicyStore, now);

const setUp = (wrap: Wrap = (store) => store) => {
  const clock = new ManualClock();
  const memory = new MemoryStore({ now: clock.now });
  const store = new RecordingStore(wrap(memory, clock.now));
  const nextId = callIds();
  const blocks = new Blocks({ store, nextId, deadlineMs: 1_000 });
  const consume = (...charged: readonly RuleCharge[]) =>
    blocks.consume({ id: nextId(), charges: charged.map(({ charge }) => charge) }, charged);
  const refused = async (...charged: readonly RuleCharge[]): Promise<Denied> => {
    const decision = await consume(...charged);
    if (decision.allowed) throw new Error('the call was admitted');
    return decision;
  };
  return { clock, memory, store, blocks, consume, refused };
};

/** What a client notices of a decision. */
const courseOf = (decision: Decision): object =>
  decision.allowed
    ? { allowed: true }
    : {
        allowed: false,
        isBlocked: decision.refusedBy[0].isBlock ?? false,
        retryAfterMs: decision.retryAfterMs,
      };

const chargeOf = (parts: Partial<Rule> = {}, cost = 1, who = '203.0.113.7'): RuleCharge => {
  const rule = ruleOf({ kind: 'ip', limit: 1, windowMs: 1_000, block: BLOCK, onStoreError: 'local', ...parts });
  const { limit, windowMs, label, onStoreError } = rule as Rule & { limit: number; windowMs: number };
  const key = ruleKey(rule, { kind: 'ip', value: who });
  return { rule, charge: { key, limit, windowMs, cost, rule: label, onStoreError } };
};

describe('a rule that blocks', () => {
  it('is its own limit before, and the nth refusal tells already how long the block is', async () => {
    const { consume, refused } = setUp();
    const ip = chargeOf();
    await consume(ip);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 1_000, refusedBy: [{ key: ip.charge.key }] });
    const second = await refused(ip);
    expect(second).toMatchObject({ retryAfterMs: 1_000 });
    expect(second.refusedBy[0]).not.toHaveProperty('isBlock');
    const told = { ...ip.charge, remaining: 0, resetAfterMs: 60_000, retryAfterMs: 60_000, isBlock: true };
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 60_000, refusedBy: [told], budgets: [told] });
  });

  it('refuses for so long, whatever room its budget has, and not a millisecond longer', async () => {
    const { clock, consume, refused } = setUp();
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 3; i++) await refused(ip);
    clock.advance(59_999);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 1, refusedBy: [{ isBlock: true, remaining: 0 }] });
    clock.advance(1);
    expect(await consume(ip)).toMatchObject({ allowed: true });
  });

  it('is not prolonged by knocking, and begins anew only after as many refusals', async () => {
    const { clock, consume, refused } = setUp();
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 50; i++) await refused(ip);
    clock.advance(60_000);
    await consume(ip);
    for (const retryAfterMs of [1_000, 1_000, 60_000]) expect(await refused(ip)).toMatchObject({ retryAfterMs });
  });

  it('counts refusals that come close enough together', async () => {
    const { clock, consume, refused } = setUp();
    const ip = chargeOf({ windowMs: 10_000, block: { ...BLOCK, withinMs: 1_000 } });
    await consume(ip);
    for (let i = 0; i < 8; i++) {
      expect((await refused(ip)).refusedBy[0]).not.toHaveProperty('isBlock');
      clock.advance(500);
    }
    for (let i = 0; i < 2; i++) await refused(ip);
    expect(await refused(ip)).toMatchObject({ refusedBy: [{ isBlock: true }] });
  });

  it('that is shorter than the time of its refusals ends all the same, and they do not count again', async () => {
    const { clock, consume, refused } = setUp();
    const ip = chargeOf({ block: { after: 3, withinMs: 100_000, forMs: 5_000 } });
    await consume(ip);
    for (let i = 0; i < 3; i++) await refused(ip);
    clock.advance(5_000);
    await consume(ip);
    for (const retryAfterMs of [1_000, 1_000, 5_000]) expect(await refused(ip)).toMatchObject({ retryAfterMs });
  });

  it('tells when its own limit has room, where that is later than the end of the block', async () => {
    const { clock, consume, refused } = setUp();
    const ip = chargeOf({ windowMs: 100_000 });
    await consume(ip);
    for (let i = 0; i < 2; i++) await refused(ip);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 100_000, refusedBy: [{ isBlock: true }] });
    clock.advance(30_000);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 70_000, budgets: [{ resetAfterMs: 70_000 }] });
  });

  it('tells no time for a cost that is never admitted', async () => {
    const { refused } = setUp();
    const dear = chargeOf({}, 2);
    for (let i = 0; i < 2; i++) await refused(dear);
    const denied = await refused(dear);
    expect(denied).toMatchObject({ refusedBy: [{ isBlock: true }] });
    expect(denied).not.toHaveProperty('retryAfterMs');
  });

  it('blocks one identity, and this rule', async () => {
    const { consume, refused } = setUp();
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 3; i++) await refused(ip);
    expect(await consume(chargeOf({}, 1, '203.0.113.8'))).toMatchObject({ allowed: true });
    expect(await consume(chargeOf({ suffix: 'other' }))).toMatchObject({ allowed: true });
    expect(await consume(chargeOf({ windowMs: 2_000 }))).toMatchObject({ allowed: true });
  });

  it('takes nothing of the other rules of a blocked call, which are told as they are', async () => {
    const { consume, refused, memory } = setUp();
    const [ip, wide] = [chargeOf(), chargeOf({ block: undefined, suffix: 'wide', limit: 10, label: 'wide' })];
    await consume(ip, wide);
    for (let i = 0; i < 4; i++) {
      const { budgets, refusedBy } = await refused(wide, ip);
      expect(budgets).toMatchObject([{ rule: 'wide', remaining: 9 }, { rule: ip.charge.rule }]);
      expect(refusedBy).toHaveLength(1);
    }
    expect((await memory.peek([wide.charge])).budgets).toMatchObject([{ remaining: 9 }]);
  });

  it('counts what it refused itself, not what another rule refused', async () => {
    const { consume, refused } = setUp();
    const [ip, other] = [chargeOf({ limit: 10 }), chargeOf({ block: undefined, suffix: 'other', label: 'other' })];
    await consume(ip, other);
    for (let i = 0; i < 9; i++) expect(await refused(ip, other)).toMatchObject({ retryAfterMs: 1_000 });
  });

  it('counts once for one call, where several of one bucket refuse it', async () => {
    const { consume, refused } = setUp();
    const [one, two] = [chargeOf({ label: 'one' }), chargeOf({ label: 'two' })];
    await consume(one, two);
    for (let i = 0; i < 2; i++) expect(await refused(one, two)).toMatchObject({ retryAfterMs: 1_000 });
    expect(await refused(one, two)).toMatchObject({ refusedBy: [{ isBlock: true }, { isBlock: true }] });
  });

  it('shows what it admits without the logs that the block is made of', async () => {
    const { blocks, consume, memory } = setUp();
    const ip = chargeOf({ limit: 2 });
    expect((await consume(ip)).budgets).toMatchObject([{ key: ip.charge.key, remaining: 1 }]);
    expect((await blocks.peek([ip])).budgets).toMatchObject([{ key: ip.charge.key, remaining: 1 }]);
    expect(memory.size).toBe(1);
  });

  it('tells of the block when it is peeked at, and counts nothing', async () => {
    const { blocks, consume, refused } = setUp();
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 9; i++) expect(await blocks.peek([ip])).toMatchObject({ allowed: false, retryAfterMs: 1_000 });
    for (let i = 0; i < 3; i++) await refused(ip);
    expect(await blocks.peek([ip])).toMatchObject({ retryAfterMs: 60_000, refusedBy: [{ isBlock: true, limit: 1 }] });
  });

  it('names every log, so that a reset makes all of them whole', async () => {
    const { blocks, consume, refused, memory } = setUp();
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 4; i++) await refused(ip);
    await memory.reset(blocks.logsOf(ip));
    expect(memory.size).toBe(0);
    expect(await consume(ip)).toMatchObject({ allowed: true });
  });

  it('asks the store once for a call that it admits or blocks', async () => {
    const { consume, refused, store } = setUp();
    const ip = chargeOf();
    await consume(ip);
    expect(store.consumed).toHaveLength(1);
    for (let i = 0; i < 3; i++) await refused(ip);
    const asked = store.consumed.length;
    await refused(ip);
    expect(store.consumed).toHaveLength(asked + 1);
  });

  it('begins the block that a process ended without beginning', async () => {
    const { blocks, consume, refused, memory } = setUp();
    const ip = chargeOf({ limit: 2 });
    const [, , refusals] = blocks.logsOf(ip);
    for (let i = 0; i < 3; i++) await memory.consume({ id: `lost${i}`, charges: [refusals!] });
    for (let i = 0; i < 2; i++) await consume(ip);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 60_000, refusedBy: [{ isBlock: true }] });
  });

  it('does not count what a fence refuses', async () => {
    class Fence extends MemoryStore {
      override async consume(request: ConsumeRequest): Promise<Decision> {
        const decision = await super.consume(request);
        return decision.allowed ? decision : { ...decision, decidedBy: 'fence' };
      }
    }
    const { consume, refused, memory } = setUp(() => new Fence());
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 9; i++) expect((await refused(ip)).refusedBy[0]).not.toHaveProperty('isBlock');
    expect(memory.size).toBe(0);
  });

  it('lets the refusal stand where the store cannot count it, and passes on what is no failure of the store', async () => {
    let failure: Error = new StoreUnavailableError('timeout', 'the test broke it');
    const isCount = ({ charges }: ConsumeRequest): boolean => charges[0]!.key.endsWith(':refusals');
    class Uncounting extends MemoryStore {
      override consume(request: ConsumeRequest): Promise<Decision> {
        return isCount(request) ? Promise.reject(failure) : super.consume(request);
      }
    }
    const { consume, refused } = setUp(() => new Uncounting());
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 5; i++) expect((await refused(ip)).refusedBy[0]).not.toHaveProperty('isBlock');
    failure = new TypeError('a fault of the caller');
    await expect(refused(ip)).rejects.toThrow('a fault of the caller');
  });

  it('gives each further call what is left of the time', async () => {
    const { blocks, store, consume } = setUp();
    const ip = chargeOf();
    await consume(ip);
    await blocks.consume({ id: 'hurried', charges: [ip.charge], withinMs: 70 }, [ip]);
    const [first, second] = store.consumed.slice(-2).map(({ withinMs }) => withinMs!);
    expect(first).toBe(70);
    expect(second).toBeLessThanOrEqual(70);
    expect(second).toBeGreaterThan(0);
  });

  it('tells of a block that another process began while it remembers a refusal by the budget', async () => {
    const { blocks, consume, refused, memory } = setUp(remembering);
    const ip = chargeOf();
    await consume(ip);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 1_000 });
    const [, beginning] = blocks.logsOf(ip);
    await memory.consume({ id: 'elsewhere', charges: [beginning!] });
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 60_000, refusedBy: [{ isBlock: true }] });
  });

  it('tells when its own budget has room, where it remembers the block only', async () => {
    const { clock, consume, refused } = setUp(remembering);
    const ip = chargeOf({ windowMs: 120_000 });
    await consume(ip);
    for (let i = 0; i < 3; i++) await refused(ip);
    // The refusal by the budget is remembered for a second, that by the block was told later.
    clock.advance(900);
    await refused(ip);
    clock.advance(150);
    expect(await refused(ip)).toMatchObject({ decidedBy: 'cache', retryAfterMs: 118_950 });
  });

  it('waits no longer than its time for what the block that it remembers does not tell', async () => {
    const silent: Wrap = (_, now) =>
      remembering(Object.assign(new MemoryStore({ now }), { peek: () => new Promise<never>(() => undefined) }), now);
    const { blocks, clock, consume, refused } = setUp(silent);
    const ip = chargeOf({ windowMs: 120_000 });
    await consume(ip);
    for (let i = 0; i < 3; i++) await refused(ip);
    // The refusal by the budget is remembered for a second, that by the block was told later.
    clock.advance(900);
    await refused(ip);
    clock.advance(150);
    expect(await blocks.consume({ id: 'hurried', charges: [ip.charge], withinMs: 30 }, [ip])).toMatchObject({
      decidedBy: 'cache',
      refusedBy: [{ isBlock: true }],
    });
  });

  it.each([
    ['', (store: RateLimitStore) => store],
    [', where refusals are remembered', remembering],
  ])(
    'admits no more than the limit, blocks exactly from the nth refusal on, and for so long, over random histories%s',
    async (_, wrap) => {
      const rules = fc.record({
        limit: fc.integer({ min: 1, max: 4 }),
        windowMs: fc.integer({ min: 10, max: 100 }),
        after: fc.integer({ min: 1, max: 4 }),
        withinMs: fc.integer({ min: 10, max: 200 }),
        forMs: fc.integer({ min: 10, max: 300 }),
      });
      const waits = fc.array(
        fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 }), fc.integer({ min: 90, max: 310 })),
        {
          minLength: 20,
          maxLength: 80,
        },
      );
      await fc.assert(
        fc.asyncProperty(rules, waits, async ({ limit, windowMs, ...block }, pauses) => {
          const { clock, consume } = setUp(wrap);
          const ip = chargeOf({ limit, windowMs, block });
          const admitted: { at: number; units: number }[] = [];
          let refusals: number[] = [];
          let blockedUntil = -Infinity;
          for (const pause of pauses) {
            clock.advance(pause);
            const now = clock.now();
            const live = admitted.filter(({ at }) => at > now - windowMs);
            const isFull = live.length >= limit;
            const wasBlocked = now < blockedUntil;
            if (isFull && !wasBlocked) {
              refusals = [...refusals.filter((at) => at > now - block.withinMs), now];
              if (refusals.length >= block.after) [refusals, blockedUntil] = [[], now + block.forMs];
            }
            const isBlocked = now < blockedUntil;
            const decision = await consume(ip);
            const ownMs = isFull ? live.at(-limit)!.at + windowMs - now : 0;
            const retryAfterMs = Math.max(ownMs, isBlocked ? blockedUntil - now : 0);
            expect(courseOf(decision)).toEqual(
              isFull || wasBlocked ? { allowed: false, isBlocked, retryAfterMs } : { allowed: true },
            );
            if (decision.allowed) admitted.push({ at: now, units: 1 });
          }
          expect(mostAdmittedInAnyWindow(admitted, windowMs)).toBeLessThanOrEqual(limit);
        }),
        { numRuns: 300 },
      );
    },
  );
});

describe('a rule that blocks, whose store fails', () => {
  const withLink = () => {
    let link: FailingLink | undefined;
    const parts = setUp((store, now) => supervised((link = new FailingLink(store)), now));
    return { ...parts, link: link! };
  };

  it('goes on to block whom this process blocked', async () => {
    const { clock, consume, refused, link } = withLink();
    const ip = chargeOf();
    await consume(ip);
    for (let i = 0; i < 3; i++) await refused(ip);
    link.failure = 'connection';
    clock.advance(30_000);
    expect(await refused(ip)).toMatchObject({ refusedBy: [{ isBlock: true }], decidedBy: 'local' });
  });

  it('counts and blocks in this process, also after the store is back', async () => {
    const { clock, consume, refused, link } = withLink();
    const ip = chargeOf();
    link.failure = 'connection';
    await consume(ip);
    for (let i = 0; i < 2; i++) await refused(ip);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 60_000, refusedBy: [{ isBlock: true }] });
    link.failure = undefined;
    clock.advance(59_999);
    expect(await refused(ip)).toMatchObject({ retryAfterMs: 1, refusedBy: [{ isBlock: true }] });
    clock.advance(1);
    expect(await consume(ip)).toMatchObject({ allowed: true });
  });

  it.each(['allow', 'deny'] as const)('lets the refusal stand uncounted by the policy %s', async (onStoreError) => {
    const { consume, refused, link, store } = withLink();
    const ip = chargeOf({ onStoreError });
    await consume(ip);
    const inner = store.consume.bind(store);
    store.consume = (request) => {
      link.failure = request.charges[0]!.key === ip.charge.key ? undefined : 'connection';
      return inner(request);
    };
    for (let i = 0; i < 5; i++) expect((await refused(ip)).refusedBy[0]).not.toHaveProperty('isBlock');
  });
});

describe('a rule that does not block', () => {
  it('asks the store as it always did', async () => {
    const { consume, refused, store } = setUp();
    const plain = chargeOf({ block: undefined });
    await consume(plain);
    await refused(plain);
    expect(store.consumed.map(({ charges }) => charges)).toEqual([[plain.charge], [plain.charge]]);
  });
});
