import { describe, expect, it } from '@jest/globals';
import type { Charge } from '../../src/core/charge.ts';
import { CircuitBreakerStore } from '../../src/failure/circuit-breaker-store.ts';
import { CircuitBreaker } from '../../src/failure/circuit-breaker.ts';
import { DeadlineStore } from '../../src/failure/deadline-store.ts';
import { FailurePolicyStore } from '../../src/failure/failure-policy-store.ts';
import { LocalFallback, type LocalFallbackOptions } from '../../src/failure/local-fallback.ts';
import { StoreEvents } from '../../src/failure/store-events.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge } from '../contract/store-contract.ts';
import { FailingLink } from '../support/failing-link.ts';
import { ManualClock } from '../support/manual-clock.ts';

const setUp = (options: Partial<LocalFallbackOptions> = {}) => {
  const clock = new ManualClock(1_600_000);
  const inner = new MemoryStore({ now: clock.now });
  const link = new FailingLink(inner);
  const local = new LocalFallback({ instances: () => 1, onFull: () => undefined, now: clock.now, ...options });
  const events = new StoreEvents(() => undefined, clock.now);
  const store = new FailurePolicyStore(link, { onStoreError: 'local', events, local });
  let calls = 0;
  const consume = (...charges: readonly Charge[]) => store.consume({ id: `c${calls++}`, charges });
  return { clock, inner, link, local, store, consume };
};

describe('a store that fails and comes back', () => {
  it('confirms no more answers that come together after an outage than it has room for', async () => {
    const { link, consume } = setUp();
    const budget = charge({ limit: 2 });
    link.failure = 'connection';
    await consume(budget);
    link.failure = undefined;
    const answers = await Promise.all([consume(budget), consume(budget)]);
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(1);
  });

  it('gets back what it admitted and this process does not', async () => {
    const { inner, link, consume } = setUp();
    const budget = charge({ limit: 1 });
    link.failure = 'connection';
    await consume(budget);
    link.failure = undefined;
    expect((await consume(budget)).allowed).toBe(false);
    expect(link.refunds).toHaveLength(1);
    expect((await inner.peek([budget])).budgets[0]!.remaining).toBe(1);
  });

  it('is remembered for all charges of a call, those beside one that this process decided too', async () => {
    const { link, consume } = setUp();
    const [decided, other] = [charge({ limit: 3 }), charge({ limit: 1 })];
    link.failure = 'connection';
    await consume(decided);
    link.failure = undefined;
    await consume(decided, other);
    link.failure = 'connection';
    expect(await consume(other)).toMatchObject({ allowed: false, refusedBy: [{ key: other.key }] });
    expect(await consume(decided)).toMatchObject({ allowed: true, budgets: [{ remaining: 0 }] });
  });

  it('is not remembered for a call that is given back after an outage', async () => {
    const { link, store, consume } = setUp();
    const budget = charge({ limit: 3 });
    link.failure = 'connection';
    await consume(budget);
    link.failure = undefined;
    const decision = await consume(budget);
    if (!decision.allowed) throw new Error('refused');
    await store.refund({ id: decision.id, charges: [budget], receipt: decision.receipt! });
    link.failure = 'connection';
    expect(await consume(budget)).toMatchObject({ allowed: true, budgets: [{ remaining: 1 }] });
  });

  it('has whole budgets in this process too when they are reset, whoever admitted what was taken', async () => {
    const { link, store, consume } = setUp();
    const budget = charge({ limit: 1 });
    await consume(budget);
    await store.reset([budget]);
    link.failure = 'connection';
    expect((await consume(budget)).allowed).toBe(true);
    await store.reset([budget]).catch(() => undefined);
    expect((await consume(budget)).allowed).toBe(true);
  });

  it('leaves charges that are let through undecided beside those that this process decides', async () => {
    const { link, consume } = setUp();
    const [through, here] = [charge({ limit: 1, onStoreError: 'allow' }), charge({ limit: 2 })];
    link.failure = 'connection';
    await consume(through, here);
    expect(await consume(through, here)).toMatchObject({ allowed: true, budgets: [{ key: here.key, remaining: 0 }] });
    expect(await consume(through, here)).toMatchObject({ allowed: false, refusedBy: [{ key: here.key }] });
  });

  it('takes nothing of others when a call is given back twice', async () => {
    const { link, store, consume } = setUp();
    const budget = charge({ limit: 2 });
    const first = await consume(budget);
    await consume(budget);
    if (!first.allowed) throw new Error('refused');
    const request = { id: first.id, charges: [budget], receipt: first.receipt! };
    await store.refund(request);
    await store.refund(request);
    link.failure = 'connection';
    expect((await consume(budget)).allowed).toBe(true);
    expect((await consume(budget)).allowed).toBe(false);
  });

  it('is not misled by a call with a faulty window', async () => {
    const { link, consume } = setUp();
    const budget = charge({ limit: 1 });
    link.failure = 'connection';
    await consume(charge({ windowMs: NaN })).catch(() => undefined);
    await consume(budget);
    link.failure = undefined;
    expect((await consume(budget)).allowed).toBe(false);
  });

  it('counts what the store admits though keys of another window have expired', async () => {
    const { clock, link, consume } = setUp({ maxKeys: 1 });
    await consume(charge({ windowMs: 10 }));
    clock.advance(10);
    const budget = charge({ limit: 1 });
    await consume(budget);
    link.failure = 'connection';
    expect((await consume(budget)).allowed).toBe(false);
  });

  it('keeps the circuit closed when calls have no time left', async () => {
    const clock = new ManualClock();
    const guarded = new CircuitBreakerStore(
      new DeadlineStore(new MemoryStore(), 1_000),
      new CircuitBreaker({ now: clock.now }),
    );
    for (let i = 0; i < 5; i++) {
      await guarded.consume({ id: `c${i}`, charges: [charge()], withinMs: 0 }).catch(() => undefined);
    }
    expect(guarded.circuit).toBe('closed');
  });

  it('finds room for what the store admitted where keys that were decided here have expired', async () => {
    const { clock, link, consume } = setUp({ maxKeys: 1 });
    link.failure = 'connection';
    await consume(charge({ windowMs: 10 }));
    link.failure = undefined;
    clock.advance(10);
    const budget = charge({ limit: 1 });
    await consume(budget);
    link.failure = 'connection';
    expect((await consume(budget)).allowed).toBe(false);
  });

  it('gives calls back that time out together, though the circuit opens meanwhile', async () => {
    const clock = new ManualClock();
    const link = new FailingLink(new MemoryStore({ now: clock.now }));
    const guarded = new CircuitBreakerStore(link, new CircuitBreaker({ now: clock.now }));
    const store = new FailurePolicyStore(guarded, {
      onStoreError: 'deny',
      events: new StoreEvents(() => undefined, clock.now),
    });
    link.failure = 'timeout';
    const budget = charge({ limit: 50 });
    const ids = Array.from({ length: 10 }, (_, i) => `c${i}`);
    await Promise.allSettled(ids.map((id) => store.consume({ id, charges: [budget] })));
    expect(link.refunds.map(({ id }) => id)).toEqual(ids);
  });

  it('tells two charges on one log their own limits', async () => {
    const { link, consume } = setUp({ instances: () => 2 });
    link.failure = 'connection';
    const narrow = charge({ limit: 4 });
    const decision = await consume(narrow, { ...narrow, limit: 10 });
    expect(decision.budgets.map(({ limit }) => limit)).toEqual([4, 10]);
  });

  it('goes by one instance when the function of instances fails', async () => {
    const { link, consume } = setUp({
      instances: () => {
        throw new Error('the registry is down');
      },
    });
    link.failure = 'connection';
    await expect(consume(charge())).resolves.toMatchObject({ allowed: true });
  });

  it('shows the store no receipt that it never gave', async () => {
    const { link, store, consume } = setUp();
    const budget = charge();
    link.failure = 'timeout';
    const decision = await consume(budget);
    if (!decision.allowed) throw new Error('refused');
    await store.refund({ id: decision.id, charges: [budget], receipt: decision.receipt! });
    expect(link.refunds.map(({ receipt }) => receipt)).toEqual([undefined]);
  });

  it('previews after an outage what consume answers', async () => {
    const { link, store, consume } = setUp();
    const budget = charge({ limit: 1 });
    link.failure = 'connection';
    await consume(budget);
    link.failure = undefined;
    const preview = await store.peek([budget]);
    expect(preview.allowed).toBe((await consume(budget)).allowed);
  });

  it('keeps the circuit open for a request at fault', async () => {
    const clock = new ManualClock();
    const link = new FailingLink(new MemoryStore({ now: clock.now }));
    const guarded = new CircuitBreakerStore(link, new CircuitBreaker({ now: clock.now, random: () => 0 }));
    link.failure = 'timeout';
    for (let i = 0; i < 5; i++) {
      await guarded.consume({ id: `c${i}`, charges: [charge()] }).catch(() => undefined);
      clock.advance(10);
    }
    clock.advance(200);
    await guarded.consume({ id: 'a', charges: [charge({ limit: 0 })] }).catch(() => undefined);
    expect(guarded.circuit).not.toBe('closed');
  });

  it('takes nothing of what was admitted after a reset when a call from before is given back', async () => {
    const { link, store, consume } = setUp();
    const budget = charge({ limit: 1 });
    const first = await consume(budget);
    if (!first.allowed) throw new Error('refused');
    await store.reset([budget]);
    await consume(budget);
    await store.refund({ id: first.id, charges: [budget], receipt: first.receipt! });
    link.failure = 'connection';
    expect((await consume(budget)).allowed).toBe(false);
  });
});
