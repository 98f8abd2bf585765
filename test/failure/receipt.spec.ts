import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FailurePolicyStore } from '../../src/failure/failure-policy-store.ts';
import { LocalFallback } from '../../src/failure/local-fallback.ts';
import { originOf, receiptOf, type Origin } from '../../src/failure/receipt.ts';
import { StoreEvents } from '../../src/failure/store-events.ts';
import type { StoreFailureKind } from '../../src/core/errors.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { FailingLink } from '../support/failing-link.ts';
import { ManualClock } from '../support/manual-clock.ts';

describe('a receipt', () => {
  const moments = fc.oneof(fc.nat(), fc.double({ min: 0.001, max: 1e15, noNaN: true }));
  const awkward = fc.constantFrom('', ':', '\n', 'at:1', 'at:', 'local:', 'local:late', '1:2\n:3', '\u2028', '.');
  const receipts = fc.option(fc.oneof(fc.string({ unit: 'binary' }), awkward), { nil: undefined });

  it('tells where the store was charged, whatever the receipt of the store is', () => {
    fc.assert(
      fc.property(fc.option(moments, { nil: undefined }), receipts, (rememberedAt, receipt) => {
        expect(originOf(receiptOf({ rememberedAt, receipt }))).toEqual({ rememberedAt, receipt });
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<Origin>([
    { isLocal: true, mayBeLate: true },
    { isLocal: true, mayBeLate: false },
    { isLocal: true, mayBeLate: true, receipt: '1700000000000000' },
    { isLocal: true, mayBeLate: false, receipt: 'late:\n' },
  ])('tells that this process decided: %j', (origin) => {
    expect(originOf(receiptOf(origin))).toEqual(origin);
  });

  it.each(['', '1700000000000000', 'AT:1', 'at', 'at:x', 'at:1x', 'local', 'Local:', ' at:1', ' local:'])(
    'of somebody else is the receipt of the store: %j',
    (receipt) => {
      expect(originOf(receipt)).toEqual({ receipt });
    },
  );
});

describe('a refund', () => {
  const setUp = () => {
    const clock = new ManualClock();
    const inner = new MemoryStore({ now: clock.now });
    const link = new FailingLink({
      consume: async (request) => {
        const decision = await inner.consume(request);
        return decision.allowed ? { ...decision, receipt: `of:${request.id}\n` } : decision;
      },
      peek: (charges) => inner.peek(charges),
      refund: (request) => inner.refund(request),
      reset: (charges) => inner.reset(charges),
    });
    const local = new LocalFallback({ instances: () => 1, onFull: () => undefined, now: clock.now });
    const events = new StoreEvents(() => undefined, clock.now);
    const store = new FailurePolicyStore(link, { onStoreError: 'local', events, local });
    const budget = charge({ limit: 10 });
    /** Units that are free in the store and in this process. */
    const free = async () => [
      (await inner.peek([budget])).budgets[0]!.remaining,
      local.peek([budget]).budgets[0]!.remaining,
    ];
    const consume = async (id: string) => {
      const decision = await store.consume({ id, charges: [budget] });
      if (!decision.allowed) throw new Error(`${id} was refused`);
      return { id, charges: [budget], receipt: decision.receipt! };
    };
    return { clock, link, store, budget, free, consume };
  };

  it.each<{ where: string; failure: StoreFailureKind | undefined; charged: number[]; asked: number }>([
    { where: 'the store, and the memory of it', failure: undefined, charged: [9, 9], asked: 1 },
    { where: 'this process alone, where the store did not take it', failure: 'readonly', charged: [10, 9], asked: 0 },
    { where: 'both, where the store was too late', failure: 'timeout', charged: [9, 9], asked: 1 },
  ])('reaches $where', async ({ failure, charged, asked }) => {
    const { link, store, free, consume } = setUp();
    link.failure = failure;
    const call = await consume('a');
    expect(await free()).toEqual(charged);
    link.failure = undefined;
    await store.refund(call);
    expect(await free()).toEqual([10, 10]);
    expect(link.refunds.map(({ id }) => id)).toEqual(Array(asked).fill('a'));
  });

  it('brings this process its own receipt, where it counts by slices', async () => {
    const { link, store, budget } = setUp();
    const large = { ...budget, limit: 20_000 };
    link.failure = 'readonly';
    const decision = await store.consume({ id: 'a', charges: [large] });
    if (!decision.allowed) throw new Error('the call was refused');
    await store.refund({ id: 'a', charges: [large], receipt: decision.receipt });
    expect(await store.peek([large])).toMatchObject({ budgets: [{ remaining: 20_000 }] });
  });

  it.each([undefined, 'readonly', 'timeout'] as const)(
    'of some charges of a call reaches where they were charged, and leaves the others: %s',
    async (failure) => {
      const { link, store, budget } = setUp();
      const other = charge({ limit: 10 });
      link.failure = failure;
      const decision = await store.consume({ id: 'a', charges: [budget, other] });
      if (!decision.allowed) throw new Error('the call was refused');
      link.failure = undefined;
      await store.refund({ id: 'a', charges: [other], receipt: decision.receipt });
      const left = async () => (await store.peek([budget, other])).budgets.map(({ remaining }) => remaining);
      const inProcess = failure === 'readonly' ? [10, 10] : [9, 10];
      expect(await left()).toEqual(inProcess);
      // What this process counts besides shows when it decides.
      link.failure = 'connection';
      expect(await left()).toEqual([9, 10]);
    },
  );

  it('brings the store its own receipt', async () => {
    const { link, store, consume } = setUp();
    await store.refund(await consume('a'));
    expect(link.refunds).toMatchObject([{ id: 'a', receipt: 'of:a\n' }]);
  });

  it('takes nothing of other calls', async () => {
    const { clock, link, store, free, consume } = setUp();
    const healthy = [await consume('a'), await consume('b')];
    clock.advance(10);
    link.failure = 'connection';
    const alone = [await consume('c'), await consume('d')];
    link.failure = undefined;
    expect(await free()).toEqual([8, 6]);
    await store.refund(healthy[0]!);
    expect(await free()).toEqual([9, 7]);
    await store.refund(alone[0]!);
    expect(await free()).toEqual([9, 8]);
  });

  it('without a receipt goes to the store', async () => {
    const { link, store, budget } = setUp();
    await store.refund({ id: 'a', charges: [budget] });
    expect(link.refunds).toEqual([{ id: 'a', charges: [budget] }]);
  });

  it('counts in this process also while the store cannot be reached', async () => {
    const { link, store, free, consume } = setUp();
    const call = await consume('a');
    link.failure = 'connection';
    await expect(store.refund(call)).rejects.toMatchObject({ kind: 'connection' });
    expect(await free()).toEqual([9, 10]);
  });

  it('is made by the store itself, once, for a call that came too late and was refused', async () => {
    const { link, store, budget, free, consume } = setUp();
    for (let i = 0; i < 9; i++) await consume(`before${i}`);
    link.failure = 'timeout';
    const dear = { ...budget, cost: 2, limit: 11 };
    await store.consume({ id: 'served', charges: [dear] });
    expect(link.refunds).toEqual([]);
    const decision = await store.consume({ id: 'refused', charges: [dear] });
    expect(decision.allowed).toBe(false);
    expect(link.refunds.map(({ id }) => id)).toEqual(['refused']);
    expect(await free()).toEqual([0, 0]);
  });

  it('is not made for a call that the store did not take', async () => {
    const { link, store, budget } = setUp();
    link.failure = 'readonly';
    await store.consume({ id: 'a', charges: [{ ...budget, cost: 11 }] });
    expect(link.refunds).toEqual([]);
  });
});
