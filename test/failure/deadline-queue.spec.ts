import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DeadlineQueue } from '../../src/failure/deadline-queue.ts';
import { ManualClock } from '../support/manual-clock.ts';

const DEADLINE_MS = 100;

describe('a queue of deadlines', () => {
  let clock: ManualClock;
  let queue: DeadlineQueue;
  let late: string[];
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate'] });
    clock = new ManualClock();
    jest.spyOn(performance, 'now').mockImplementation(clock.now);
    queue = new DeadlineQueue(DEADLINE_MS);
    late = [];
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const begin = (name: string) => queue.begin(() => late.push(name));
  /** Time passes for the timers; the process may be busy for longer than they were to run. */
  const pass = (ms: number, busyMs = 0): void => {
    clock.advance(ms + busyMs);
    jest.advanceTimersByTime(ms);
  };
  /** What has arrived is read. */
  const read = () => new Promise((resolve) => setImmediate(resolve));

  it('ends each call at its own deadline, with one timer for all', async () => {
    begin('first');
    pass(40);
    begin('second');
    begin('third');
    expect(jest.getTimerCount()).toBe(1);
    pass(60);
    await read();
    expect(late).toEqual(['first']);
    pass(39);
    await read();
    expect(late).toEqual(['first']);
    pass(1);
    await read();
    expect(late).toEqual(['first', 'second', 'third']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends no call that was answered, though others wait', async () => {
    const first = begin('first');
    begin('second');
    const third = begin('third');
    queue.end(first);
    queue.end(third);
    queue.end(third);
    pass(DEADLINE_MS);
    await read();
    expect(late).toEqual(['second']);
  });

  it('lets an answer go first that is read at the deadline', async () => {
    const call = begin('answered');
    begin('other');
    pass(DEADLINE_MS);
    queue.end(call);
    await read();
    expect(late).toEqual(['other']);
  });

  it('gives a busy process the time back by which its timer was late', async () => {
    begin('call');
    pass(DEADLINE_MS, 5);
    await read();
    pass(4);
    await read();
    expect(late).toEqual([]);
    pass(1);
    await read();
    expect(late).toEqual(['call']);
  });

  it('gives back 20 ms at most, once, however busy the process stays', async () => {
    begin('call');
    pass(DEADLINE_MS, 5_000);
    await read();
    pass(19);
    await read();
    expect(late).toEqual([]);
    pass(1, 5_000);
    await read();
    expect(late).toEqual(['call']);
  });

  it('gives the time back again to calls that are due later', async () => {
    begin('first');
    pass(DEADLINE_MS, 5);
    pass(5);
    await read();
    begin('second');
    pass(DEADLINE_MS, 5);
    await read();
    expect(late).toEqual(['first']);
  });
});

describe('a process with a queue of deadlines', () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

  it('may end while no call waits, and only then', () => {
    const before = timers();
    const queue = new DeadlineQueue(60_000);
    for (let i = 0; i < 2; i++) {
      const [call, other] = [queue.begin(() => undefined), queue.begin(() => undefined)];
      queue.end(call);
      expect(timers()).toBe(before + 1);
      queue.end(other);
      expect(timers()).toBe(before);
    }
  });
});
