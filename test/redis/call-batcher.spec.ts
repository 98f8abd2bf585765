import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { CallBatcher } from '../../src/redis/call-batcher.ts';
import type { Asked } from '../../src/redis/script-calls.ts';
import type { Decision } from '../../src/core/decision.ts';
import { charge } from '../contract/store-contract.ts';
import { eventually } from '../support/eventually.ts';

type Answers = readonly (Decision | Error)[];
interface Call {
  readonly ids: readonly string[];
  readonly answer: (answers?: Answers) => void;
  readonly fail: (error: Error) => void;
}

const allowed = (id: string): Decision => ({ allowed: true, id, budgets: [] });

const setUp = () => {
  const calls: Call[] = [];
  const batcher = new CallBatcher(
    (requests: readonly Asked[]) =>
      new Promise((resolve, reject) => {
        const ids = requests.map(({ request }) => request.id);
        calls.push({ ids, answer: (answers = ids.map(allowed)) => resolve(answers), fail: reject });
      }),
  );
  const ask = (id: string, cost = 1, withinMs?: number) =>
    batcher.decide({ id, charges: [charge({ cost, limit: 100 })], ...(withinMs !== undefined && { withinMs }) });
  const askMany = (prefix: string, count: number, cost = 1) =>
    Array.from({ length: count }, (_, i) => ask(`${prefix}${i}`, cost));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { calls, batcher, ask, askMany, turn };
};

describe('a batcher of calls', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('sends the requests of one turn in one call, in their order', async () => {
    const { calls, askMany, turn } = setUp();
    const answers = askMany('a', 5);
    expect(calls).toEqual([]);
    await turn();
    expect(calls.map(({ ids }) => ids)).toEqual([['a0', 'a1', 'a2', 'a3', 'a4']]);
    calls[0]!.answer();
    expect(await Promise.all(answers)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'].map(allowed));
  });

  it('sends the requests of the next turn in another one, without waiting for the first', async () => {
    const { calls, ask, turn } = setUp();
    void ask('a');
    await turn();
    void ask('b');
    await turn();
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
  });

  it.each([
    [200, 1, [64, 64, 64, 8]],
    [10, 30, [8, 2]],
    [3, 100, [2, 1]],
    [80, 5, [32, 32, 16]],
    [130, 101, [64, 64, 2]],
  ])('of %d requests of %d units sends as many at once as hold the server up for a short time', async (...one) => {
    const [count, cost, sizes] = one;
    const { calls, askMany, turn } = setUp();
    void askMany('a', count, cost);
    await turn();
    expect(calls.map(({ ids }) => ids.length)).toEqual(sizes);
  });

  it.each([
    [16, [16]],
    [17, [16, 1]],
    [50, [25, 25]],
    [51, [26, 25]],
  ])('sends %d requests to an idle server in halves, so that it decides while the process goes on', async (...one) => {
    const [count, sizes] = one;
    const { calls, askMany, turn } = setUp();
    void askMany('a', count);
    await turn();
    expect(calls.map(({ ids }) => ids.length)).toEqual(sizes);
    void askMany('b', 60);
    await turn();
    expect(calls.slice(sizes.length).map(({ ids }) => ids.length)).toEqual([60]);
  });

  it('counts a compact log as one charge, whatever the cost', async () => {
    const { calls, batcher, turn } = setUp();
    for (let i = 0; i < 130; i++) {
      void batcher.decide({ id: `a${i}`, charges: [charge({ cost: 1_000, limit: 100_000 })] });
    }
    await turn();
    expect(calls.map(({ ids }) => ids.length)).toEqual([64, 64, 2]);
  });

  it('counts a charge that takes nothing as one charge', async () => {
    const { calls, askMany, turn } = setUp();
    void askMany('a', 200, 0);
    await turn();
    expect(calls[1]!.ids).toHaveLength(64);
  });

  it('lets more calls wait where answers take long, since the server is idle then: four for each millisecond', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const { calls, askMany, turn } = setUp();
    const answers = askMany('a', 1);
    await turn();
    clock.mockReturnValue(1_003);
    calls[0]!.answer();
    await Promise.all(answers);
    void askMany('b', 64 * 20);
    await turn();
    expect(calls).toHaveLength(1 + 12);
    clock.mockReturnValue(2_000);
    calls[1]!.answer();
    await turn();
    void askMany('c', 64 * 40);
    await turn();
    expect(calls).toHaveLength(2 + 32);
  });

  it('does not send what was given back before', async () => {
    const { calls, ask, batcher, turn } = setUp();
    const [kept, withdrawn] = [ask('kept'), ask('withdrawn')];
    batcher.withdraw('withdrawn');
    batcher.withdraw('stranger');
    await expect(withdrawn).rejects.toMatchObject({ kind: 'timeout' });
    await turn();
    expect(calls.map(({ ids }) => ids)).toEqual([['kept']]);
    calls[0]!.answer();
    expect(await kept).toEqual(allowed('kept'));
  });

  it('lets four calls wait for their replies, and sends the rest as replies come', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const { calls, askMany, turn } = setUp();
    const answers = askMany('a', 400);
    await turn();
    expect(calls).toHaveLength(4);
    calls[0]!.answer();
    await turn();
    expect(calls).toHaveLength(5);
    for (let i = 1; i < 7; i++) {
      calls[i]!.answer();
      await turn();
    }
    expect((await Promise.all(answers)).map((answer) => answer.allowed && answer.id)).toEqual(
      Array.from({ length: 400 }, (_, i) => `a${i}`),
    );
  });

  it('does not send what nobody waits for any more', async () => {
    const { calls, ask, askMany, turn } = setUp();
    void askMany('a', 256);
    await turn();
    const late = ask('late', 1, 5);
    const patient = ask('patient', 1, 60_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    calls[0]!.answer();
    await expect(late).rejects.toMatchObject({ name: 'StoreUnavailableError', kind: 'timeout' });
    await eventually(async () => calls.length === 5);
    expect(calls[4]!.ids).toEqual(['patient']);
    calls[4]!.answer();
    expect(await patient).toEqual(allowed('patient'));
  });

  it('sends on when nobody waits any more for calls that are never answered', async () => {
    const { calls, ask, turn } = setUp();
    for (let i = 0; i < 4; i++) {
      void ask(`lost${i}`, 1, 5);
      await turn();
    }
    void ask('early');
    await turn();
    expect(calls).toHaveLength(4);
    await new Promise((resolve) => setTimeout(resolve, 20));
    void ask('next');
    await turn();
    expect(calls.at(-1)!.ids).toEqual(['early', 'next']);
  });

  it('passes the failure of one request to its caller alone', async () => {
    const { calls, askMany, turn } = setUp();
    const [a, b, c] = askMany('a', 3);
    await turn();
    calls[0]!.answer([allowed('a0'), new Error('of its own'), allowed('a2')]);
    expect(await a).toEqual(allowed('a0'));
    await expect(b).rejects.toThrow('of its own');
    expect(await c).toEqual(allowed('a2'));
  });

  it('passes the failure of a call to all its callers, and goes on', async () => {
    const { calls, askMany, turn } = setUp();
    const answers = askMany('a', 3);
    await turn();
    const error = new Error('the call failed');
    calls[0]!.fail(error);
    expect(await Promise.allSettled(answers)).toEqual(answers.map(() => ({ status: 'rejected', reason: error })));
    const [next] = askMany('b', 1);
    await turn();
    calls[1]!.answer();
    expect(await next).toEqual(allowed('b0'));
  });
});
