import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import type { Charge } from '../../src/core/charge.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { SlotStore } from '../../src/redis/slot-store.ts';
import { describeExactness } from '../contract/exactness.ts';
import { charge, describeStore } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.ts';

const overMemory = (now: () => number): RateLimitStore => new SlotStore(new MemoryStore({ now }));

for (const layout of ['exact', 'compact'] as const) {
  describeStore('SlotStore with all charges in one slot', overMemory, layout);
  describeExactness('SlotStore with all charges in one slot', overMemory, 100, layout);
}

describe('SlotStore', () => {
  it('sends nothing more once the time of the call is over, and gives back what it took', async () => {
    const memory = new MemoryStore();
    const [first, second] = [charge({ key: '{a}' }), charge({ key: '{b}' })];
    const slow: RateLimitStore = {
      consume: async (request) => {
        const decision = await memory.consume(request);
        await new Promise((resolve) => setTimeout(resolve, 30));
        return decision;
      },
      peek: (charges) => memory.peek(charges),
      refund: (request) => memory.refund(request),
      reset: (charges) => memory.reset(charges),
    };
    const call = new SlotStore(slow).consume({ id: 'a', charges: [first, second], withinMs: 10 });
    await expect(call).rejects.toMatchObject({ kind: 'timeout' });
    expect((await memory.peek([first, second])).budgets.map(({ remaining }) => remaining)).toEqual([3, 3]);
  });
});

describe('compact logs in several slots', () => {
  /** Each part is decided in another slice. */
  const setUp = () => {
    const clock = new ManualClock();
    const memory = new MemoryStore({ now: clock.now });
    const store = new SlotStore({
      consume: async (request) => {
        clock.advance(100);
        return memory.consume(request);
      },
      peek: (charges) => memory.peek(charges),
      refund: (request) => memory.refund(request),
      reset: (charges) => memory.reset(charges),
    });
    const charges = ['a', 'b', 'c'].map((tag) => charge({ key: `{${tag}}`, layout: 'compact' }));
    const remaining = async () => (await memory.peek(charges)).budgets.map((budget) => budget.remaining);
    return { memory, store, charges, remaining };
  };

  it('give a call back by the receipts of their own', async () => {
    const { store, charges, remaining } = setUp();
    const decision = await store.consume({ id: 'mine', charges });
    if (!decision.allowed) throw new Error('the call was refused');
    expect(JSON.parse(decision.receipt!)).toEqual(['a', 'b', 'c'].map((tag) => [tag, expect.stringMatching(/^\d+$/)]));
    await store.refund({ id: 'mine', charges, receipt: decision.receipt });
    expect(await remaining()).toEqual([3, 3, 3]);
  });

  it('give it back beside a slot that has no receipt for it', async () => {
    const { memory, store, charges, remaining } = setUp();
    const [exact, ...others] = charges.map((each, i) => (i === 0 ? { ...each, layout: 'exact' as const } : each));
    const decision = await store.consume({ id: 'mine', charges: [exact!, ...others] });
    if (!decision.allowed) throw new Error('the call was refused');
    const moment = expect.stringMatching(/^\d+$/);
    expect(JSON.parse(decision.receipt!)).toEqual([
      ['a', ''],
      ['b', moment],
      ['c', moment],
    ]);
    await store.refund({ id: 'mine', charges: [exact!, ...others], receipt: decision.receipt });
    expect(await remaining()).toEqual([3, 3, 3]);
    expect(memory.size).toBe(0);
  });

  it.each([
    [[1], [2, 3, 2]],
    [
      [2, 0],
      [3, 2, 3],
    ],
    [
      [0, 1, 2],
      [3, 3, 3],
    ],
  ])('give back some of its charges by the receipts of their slots: %j', async (which, left) => {
    const { store, charges, remaining } = setUp();
    const decision = await store.consume({ id: 'mine', charges });
    if (!decision.allowed) throw new Error('the call was refused');
    await store.refund({ id: 'mine', charges: which.map((i) => charges[i]!), receipt: decision.receipt });
    expect(await remaining()).toEqual(left);
  });

  it('keep the receipt of the only slot as it is', async () => {
    const { store, charges, remaining } = setUp();
    const decision = await store.consume({ id: 'mine', charges: [charges[0]!] });
    if (!decision.allowed) throw new Error('the call was refused');
    expect(decision.receipt).toMatch(/^\d+$/);
    await store.refund({ id: 'mine', charges: [charges[0]!], receipt: decision.receipt });
    expect(await remaining()).toEqual([3, 3, 3]);
  });

  it.each(['__proto__', 'a b', '"', '[]'])('name any slot: %s', async (tag) => {
    const { store, charges, memory } = setUp();
    const odd = { ...charges[0]!, key: `{${tag}}` };
    const decision = await store.consume({ id: 'mine', charges: [charges[1]!, odd] });
    if (!decision.allowed) throw new Error('the call was refused');
    await store.refund({ id: 'mine', charges: [odd], receipt: decision.receipt });
    expect((await memory.peek([odd, charges[1]!])).budgets.map((budget) => budget.remaining)).toEqual([3, 2]);
  });

  it.each(['[', '[1]', '[null]'])('reject a receipt that they did not give: %s', async (receipt) => {
    const { store, charges } = setUp();
    await expect(store.refund({ id: 'mine', charges, receipt })).rejects.toThrow(
      'receipt must be that of the decision',
    );
  });

  it('give back what they took when a later one refuses', async () => {
    const { memory, store, charges, remaining } = setUp();
    await memory.consume({ id: 'full', charges: [{ ...charges[2]!, cost: 3 }] });
    expect(await store.consume({ id: 'mine', charges })).toMatchObject({ allowed: false });
    expect(await remaining()).toEqual([3, 3, 0]);
  });
});

describe('the memory of several slots', () => {
  const ages: Readonly<Record<string, number | undefined>> = { a: 50, b: 20, c: 70 };
  const remembering = Object.assign(new MemoryStore(), {
    consume: async ({ id, charges }: { id: string; charges: readonly Charge[] }) => {
      const memoryAgeMs = ages[charges[0]!.key[1]!];
      return { allowed: true as const, id, budgets: [], ...(memoryAgeMs !== undefined && { memoryAgeMs }) };
    },
  });
  it.each([
    ['abc', 20],
    ['bca', 20],
    ['ac', 50],
    ['ax', 50],
    ['x', undefined],
  ])('is as old as the youngest of them: %s', async (slots, age) => {
    const charges = slots.split('').map((slot) => charge({ key: `{${slot}}` }));
    const decision = await new SlotStore(remembering).consume({ id: 'a', charges });
    expect(decision).toHaveProperty('allowed', true);
    expect((decision as { memoryAgeMs?: number }).memoryAgeMs).toBe(age);
  });
});

describe('a Redis Cluster', () => {
  let cluster: RedisCluster;
  let client: Cluster;
  let store: RateLimitStore;
  let calls = 0;
  const consume = (...charges: readonly Charge[]) => store.consume({ id: `c${calls++}`, charges });
  const remaining = async (budget: Charge) => (await store.peek([budget])).budgets[0]!.remaining;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    client = new Cluster([{ host: '127.0.0.1', port: cluster.ports[0] }]);
    store = await createRateLimitStore({ redis: client, keyPrefix: 'rl', decisionTimeout: '5s', onStoreError: 'deny' });
  }, 30_000);
  afterAll(async () => {
    await client.quit();
    await cluster.stop();
  });

  // These three tags lie on three masters.
  const spread = () =>
    ['{user:1}', '{ip:1.2.3.4}', '{method:POST /x}'].map((tag) => charge({ key: `${tag}:${calls++}` }));

  it('charges budgets on several masters in one call', async () => {
    const charges = spread();
    expect((await consume(...charges)).budgets.map((budget) => budget.remaining)).toEqual([2, 2, 2]);
  });

  it.each([0, 1, 2])('takes nothing from any budget when the one at place %d refuses', async (place) => {
    const charges = spread();
    for (let i = 0; i < 3; i++) await consume(charges[place]!);
    const decision = await consume(...charges);
    expect(decision.allowed).toBe(false);
    expect(await Promise.all(charges.map(remaining))).toEqual(charges.map((_, i) => (i === place ? 0 : 3)));
  });

  it('keeps apart keys without a hash tag, whose windows are part of what is hashed', async () => {
    const short = charge({ key: `plain${calls++}`, limit: 1 });
    expect((await consume(short, { ...short, windowMs: 5_000 })).allowed).toBe(true);
    expect((await consume(short, { ...short, windowMs: 5_000 })).allowed).toBe(false);
  });

  it('gives a call back on all its masters', async () => {
    const charges = spread();
    await store.consume({ id: 'mine', charges });
    await store.refund({ id: 'mine', charges });
    expect(await Promise.all(charges.map(remaining))).toEqual([3, 3, 3]);
    await consume(...charges);
    await store.reset(charges);
    expect(await Promise.all(charges.map(remaining))).toEqual([3, 3, 3]);
  });

  it.each(['exact', 'compact'] as const)(
    'gives some charges of a call back on their masters: %s logs',
    async (layout) => {
      const charges = spread().map((each) => ({ ...each, layout }));
      const id = `some${calls++}`;
      const decision = await store.consume({ id, charges });
      if (!decision.allowed) throw new Error('the call was refused');
      await store.refund({ id, charges: [charges[2]!, charges[0]!], receipt: decision.receipt });
      expect(await Promise.all(charges.map(remaining))).toEqual([3, 2, 3]);
    },
  );

  it('peeks at all budgets, and tells all that refuse, the longest wait first', async () => {
    const [a, b, c] = spread() as [Charge, Charge, Charge];
    const slow = { ...c, windowMs: 60_000 };
    for (let i = 0; i < 3; i++) await consume(b);
    for (let i = 0; i < 3; i++) await consume(slow);
    expect(await store.peek([a, b, slow])).toMatchObject({
      allowed: false,
      budgets: [{ remaining: 3 }, { remaining: 0 }, { remaining: 0 }],
      refusedBy: [{ key: slow.key }, { key: b.key }],
    });
  });

  it('has the scripts on every master from the start, and recovers where one forgot them', async () => {
    await cluster.onEach((master) => master.script('FLUSH'));
    const charges = spread();
    expect((await consume(...charges)).allowed).toBe(true);
    expect((await consume(...charges)).budgets.map((budget) => budget.remaining)).toEqual([1, 1, 1]);
  });

  it('admits exactly the limit of many calls at once', async () => {
    const [shared] = spread();
    const decisions = await Promise.all(Array.from({ length: 200 }, () => consume({ ...shared!, limit: 40 })));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(40);
  });
});
