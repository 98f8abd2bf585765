import { describe, expect, it, jest } from '@jest/globals';
import { StoreUnavailableError } from '../../src/core/errors.ts';
import { CircuitBreakerStore } from '../../src/failure/circuit-breaker-store.ts';
import { CircuitBreaker } from '../../src/failure/circuit-breaker.ts';
import { charge } from '../contract/store-contract.ts';
import { FailingStore } from '../support/failing-store.ts';
import { ManualClock } from '../support/manual-clock.ts';

const setUp = (random = () => 0) => {
  const clock = new ManualClock();
  return { clock, breaker: new CircuitBreaker({ now: clock.now, random }) };
};
/** So many failures, each by itself. */
const fail = (breaker: CircuitBreaker, clock: ManualClock, times: number): void => {
  for (let i = 0; i < times; i++) {
    if (i > 0) clock.advance(10);
    breaker.failed();
  }
};

describe('a circuit breaker', () => {
  it('opens at the fifth failure in a row', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 4);
    expect([breaker.state, breaker.admits()]).toEqual(['closed', true]);
    clock.advance(10);
    breaker.failed();
    expect([breaker.state, breaker.admits()]).toEqual(['open', false]);
  });

  it('takes failures that come together for one, as those of the requests of one call', () => {
    const { breaker, clock } = setUp();
    for (let moment = 0; moment < 4; moment++) {
      for (let i = 0; i < 50; i++) breaker.failed();
      clock.advance(10);
    }
    expect(breaker.state).toBe('closed');
    breaker.failed();
    expect(breaker.state).toBe('open');
  });

  it('counts a failure anew after a success, however soon it comes', () => {
    const { breaker, clock } = setUp();
    breaker.failed();
    breaker.succeeded();
    fail(breaker, clock, 5);
    expect(breaker.state).toBe('open');
  });

  it('ends a trial that fails right after a call from before', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 5);
    clock.advance(199);
    breaker.failed();
    clock.advance(1);
    expect(breaker.admits()).toBe(true);
    breaker.failed();
    expect(breaker.state).toBe('open');
  });

  it('does not open at failures with successes between them', () => {
    const { breaker, clock } = setUp();
    for (let i = 0; i < 10; i++) {
      fail(breaker, clock, 4);
      breaker.succeeded();
    }
    expect(breaker.state).toBe('closed');
  });

  it('admits one trial after a pause, and no second one beside it', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 5);
    clock.advance(199);
    expect(breaker.admits()).toBe(false);
    clock.advance(1);
    expect([breaker.admits(), breaker.admits(), breaker.state]).toEqual([true, false, 'half-open']);
  });

  it('closes at the first success, and begins anew', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 5);
    clock.advance(200);
    breaker.admits();
    breaker.succeeded();
    expect([breaker.state, breaker.admits()]).toEqual(['closed', true]);
    fail(breaker, clock, 4);
    expect(breaker.state).toBe('closed');
  });

  it('doubles its pauses while trials fail, up to half a second', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 5);
    const pauses = Array.from({ length: 5 }, () => {
      let pause = 0;
      for (; !breaker.admits(); pause++) clock.advance(1);
      fail(breaker, clock, 1);
      return pause;
    });
    expect(pauses).toEqual([200, 400, 500, 500, 500]);
  });

  it('begins the next outage with a short pause, however long the last one was', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 5);
    for (let trial = 0; trial < 3; trial++) {
      clock.advance(500);
      breaker.admits();
      if (trial < 2) fail(breaker, clock, 1);
    }
    breaker.succeeded();
    fail(breaker, clock, 5);
    clock.advance(200);
    expect(breaker.admits()).toBe(true);
  });

  it('admits another trial at once after one that told nothing', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 5);
    clock.advance(200);
    breaker.admits();
    breaker.abandoned();
    expect([breaker.state, breaker.admits(), breaker.state]).toEqual(['open', true, 'half-open']);
  });

  it('is not kept open longer by calls that were made before it opened', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 5);
    clock.advance(150);
    for (let i = 0; i < 20; i++) breaker.failed();
    clock.advance(50);
    expect(breaker.admits()).toBe(true);
  });

  it('shortens its pauses by chance, by a quarter at most', () => {
    const { breaker, clock } = setUp(() => 1);
    fail(breaker, clock, 5);
    clock.advance(149);
    expect(breaker.admits()).toBe(false);
    clock.advance(1);
    expect(breaker.admits()).toBe(true);
  });
});

describe('a store behind a circuit breaker', () => {
  const setUpStore = () => {
    const inner = new FailingStore();
    const { clock, breaker } = setUp();
    const store = new CircuitBreakerStore(inner, breaker);
    let calls = 0;
    const consume = () => store.consume({ id: `c${calls++}`, charges: [charge()] });
    const kindOf = async (): Promise<string> =>
      consume().then(
        () => 'none',
        (error: unknown) => (error instanceof StoreUnavailableError ? error.kind : String(error)),
      );
    const kinds = async (times: number): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let i = 0; i < times; i++) {
        found.push(await kindOf());
        clock.advance(10);
      }
      return found;
    };
    return { inner, clock, store, kinds };
  };

  it('is not asked while it fails, but for trials, and is asked again when one succeeds', async () => {
    const { inner, clock, store, kinds } = setUpStore();
    inner.failure = 'readonly';
    expect(await kinds(7)).toEqual([...Array.from({ length: 5 }, () => 'readonly'), 'circuit-open', 'circuit-open']);
    expect(inner.asked).toBe(5);
    clock.advance(200);
    expect(await kinds(2)).toEqual(['readonly', 'circuit-open']);
    inner.failure = undefined;
    clock.advance(400);
    expect(await kinds(3)).toEqual(['none', 'none', 'none']);
    expect(store.circuit).toBe('closed');
  });

  it('says what it failed with, though it was not asked', async () => {
    const { inner, store, kinds } = setUpStore();
    inner.failure = 'out-of-memory';
    await kinds(5);
    await expect(store.peek([charge()])).rejects.toThrow(/failed lately: .*out-of-memory/);
    await expect(store.reset([charge()])).rejects.toMatchObject({ cause: { kind: 'out-of-memory' } });
  });

  it.each(['wrong-type', 'cross-slot', 'full'] as const)(
    'is asked all the same after failures of single requests: %s',
    async (kind) => {
      const { inner, kinds } = setUpStore();
      inner.failure = kind;
      expect(await kinds(8)).toEqual(Array.from({ length: 8 }, () => kind));
    },
  );

  it('is asked again when a trial fails for its own sake: it answers', async () => {
    const { inner, clock, store, kinds } = setUpStore();
    inner.failure = 'timeout';
    await kinds(5);
    clock.advance(200);
    inner.failure = 'wrong-type';
    await kinds(1);
    expect(store.circuit).toBe('closed');
  });

  it('is asked all the same after requests at fault', async () => {
    const { store } = setUpStore();
    const faulty = () => store.consume({ id: 'a', charges: [charge({ limit: 0 })] });
    for (let i = 0; i < 8; i++) await expect(faulty()).rejects.toMatchObject({ name: 'RateLimitRequestError' });
    expect(store.circuit).toBe('closed');
  });

  it('passes refunds on in any case, since a call that came too late has to be given back', async () => {
    const { inner, store, kinds } = setUpStore();
    inner.failure = 'timeout';
    await kinds(5);
    await store.refund({ id: 'c0', charges: [charge()] });
    expect(inner.refunded).toEqual(['c0']);
  });

  it('does not take what is only read for a sign of health, nor of failure', async () => {
    const { inner, clock, store, kinds } = setUpStore();
    inner.failure = 'readonly';
    for (let i = 0; i < 10; i++) await store.peek([charge()]).catch(() => undefined);
    expect(store.circuit).toBe('closed');
    await kinds(5);
    clock.advance(200);
    inner.failure = undefined;
    await store.peek([charge()]);
    expect(store.circuit).toBe('open');
  });

  it.each([9, 10])('judges calls that had %d ms for their answer by whether that was fair', async (withinMs) => {
    const { inner, clock, store } = setUpStore();
    inner.failure = 'timeout';
    for (let i = 0; i < 5; i++) {
      await store.consume({ id: `h${i}`, charges: [charge()], withinMs }).catch(() => undefined);
      clock.advance(10);
    }
    expect(store.circuit).toBe(withinMs < 10 ? 'closed' : 'open');
  });

  it('tells how long decisions take, each counting a tenth, and those that fail nothing', async () => {
    const { inner, store, kinds } = setUpStore();
    const time = new ManualClock();
    const now = jest.spyOn(performance, 'now').mockImplementation(time.now);
    const consume = inner.consume.bind(inner);
    let tookMs = 10;
    inner.consume = (request) => {
      time.advance(tookMs);
      return consume(request);
    };
    expect(store.latencyMs).toBeUndefined();
    await kinds(2);
    expect(store.latencyMs).toBe(10);
    tookMs = 110;
    await kinds(1);
    expect(store.latencyMs).toBe(20);
    inner.failure = 'timeout';
    await kinds(1);
    expect(store.latencyMs).toBe(20);
    now.mockRestore();
  });
});
