import { describe, expect, it } from '@jest/globals';
import type { ConsumeRequest } from '../../src/core/rate-limit-store.ts';
import type { Decision } from '../../src/core/decision.ts';
import { FailurePolicyStore } from '../../src/failure/failure-policy-store.ts';
import { FencedStore } from '../../src/failure/fenced-store.ts';
import { LocalFallback } from '../../src/failure/local-fallback.ts';
import { StoreEvents } from '../../src/failure/store-events.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** Knows since when it keeps what it is told. */
class ForgetfulStore extends MemoryStore {
  began = -Infinity;
  readonly refunded: string[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    super({ now });
    this.#now = now;
  }

  override async consume(request: ConsumeRequest): Promise<Decision> {
    const decision = await super.consume(request);
    return decision.allowed ? { ...decision, memoryAgeMs: this.#now() - this.began } : decision;
  }

  override async refund(request: Parameters<MemoryStore['refund']>[0]): Promise<void> {
    this.refunded.push(request.id);
    return super.refund(request);
  }
}

const setUp = (instances?: number) => {
  const clock = new ManualClock();
  const inner = new ForgetfulStore(clock.now);
  const isFence = instances !== undefined;
  const local = new LocalFallback({
    instances: () => instances ?? 1,
    onFull: () => undefined,
    now: clock.now,
    isFence,
  });
  const fenced = new FencedStore(inner, isFence ? local : undefined);
  const events = new StoreEvents(() => undefined, clock.now);
  const store = new FailurePolicyStore(fenced, { onStoreError: 'allow', events, local, remembersAll: true });
  let calls = 0;
  const consume = (...charges: ConsumeRequest['charges']) => store.consume({ id: `c${calls++}`, charges });
  const admitted = async (times: number, budget: ConsumeRequest['charges'][number]): Promise<number> => {
    let count = 0;
    for (let i = 0; i < times; i++) count += (await consume(budget)).allowed ? 1 : 0;
    return count;
  };
  const forget = (): void => void (inner.began = clock.now());
  return { clock, inner, local, consume, admitted, forget };
};

describe('a fence', () => {
  it('lets a store decide that has kept its data for a window', async () => {
    const { admitted, clock, forget } = setUp();
    forget();
    clock.advance(100);
    expect(await admitted(5, charge({ windowMs: 100, limit: 3 }))).toBe(3);
  });

  it('admits nothing before, and tells when it will', async () => {
    const { consume, clock, forget, inner } = setUp();
    forget();
    clock.advance(30);
    const budget = charge({ windowMs: 100 });
    expect(await consume(budget)).toMatchObject({
      allowed: false,
      decidedBy: 'fence',
      retryAfterMs: 70,
      refusedBy: [{ key: budget.key, remaining: 0, retryAfterMs: 70 }],
    });
    expect(inner.refunded).toEqual(['c0']);
    clock.advance(69);
    expect((await consume(budget)).allowed).toBe(false);
    clock.advance(1);
    expect((await consume(budget)).allowed).toBe(true);
  });

  it('holds for the windows that are longer than the memory, and for the whole call when one is', async () => {
    const { consume, clock, forget } = setUp();
    forget();
    clock.advance(50);
    const [short, long] = [charge({ windowMs: 50, limit: 1 }), charge({ windowMs: 60 })];
    expect(await consume(short, long)).toMatchObject({ allowed: false, refusedBy: [{ key: long.key }] });
    expect((await consume(short)).allowed).toBe(true);
    expect((await consume(short)).allowed).toBe(false);
  });

  it.each([undefined, 2])('lets pass what takes nothing, with %s processes', async (instances) => {
    const { consume, clock, forget } = setUp(instances);
    forget();
    clock.advance(50);
    const [gate, budget] = [charge({ windowMs: 1_000, limit: 1, cost: 0 }), charge({ windowMs: 50 })];
    expect((await consume(gate, budget)).allowed).toBe(true);
  });

  it('keeps closed to what takes nothing what this process knows to be used up', async () => {
    const { consume, clock, forget, inner } = setUp(1);
    const gate = charge({ windowMs: 1_600, limit: 1 });
    await consume(gate);
    clock.advance(100);
    forget();
    await inner.reset([gate]);
    expect(await consume({ ...gate, cost: 0 })).toMatchObject({ allowed: false, refusedBy: [{ key: gate.key }] });
  });

  it('does not touch refusals of the store', async () => {
    const { admitted, consume, forget } = setUp();
    const budget = charge({ windowMs: 100, limit: 1 });
    await admitted(1, budget);
    forget();
    expect(await consume(budget)).toMatchObject({ allowed: false, retryAfterMs: 100 });
  });

  it('admits the share of each process, where their number is known', async () => {
    const { admitted, consume, forget } = setUp(3);
    forget();
    const budget = charge({ windowMs: 100, limit: 10 });
    expect(await admitted(10, budget)).toBe(3);
    expect(await consume(budget)).toMatchObject({ allowed: false, decidedBy: 'local' });
  });

  it('admits what is left of the share after what this process admitted in its last window', async () => {
    const { admitted, clock, forget } = setUp(2);
    const budget = charge({ windowMs: 1_600, limit: 10 });
    expect(await admitted(4, budget)).toBe(4);
    clock.advance(100);
    forget();
    expect(await admitted(10, budget)).toBe(1);
    clock.advance(1_500);
    expect(await admitted(10, budget)).toBe(0);
    clock.advance(100);
    expect(await admitted(20, budget)).toBe(10);
  });

  it('takes no share for a call that this process may not admit, since it decided alone before', async () => {
    const { consume, clock, forget, inner, local } = setUp(1);
    const [short, long] = [charge({ windowMs: 100, limit: 1 }), charge({ windowMs: 1_000, limit: 4 })];
    forget();
    clock.advance(100);
    local.consume({ id: 'alone', charges: [short] });
    expect(await consume(long, short)).toMatchObject({ allowed: false, refusedBy: [{ key: short.key }] });
    expect(inner.refunded).toEqual(['c0']);
    expect(local.peek([long]).budgets).toMatchObject([{ remaining: 4 }]);
  });
});
