import { describe, expect, it } from '@jest/globals';
import { useRedis } from '../support/redis.ts';
import { scriptsOn } from './scripts.ts';

const T = 1_700_000_000_000_000; // microseconds
const DAY_MS = 86_400_000;

describe('the epoch of a server', () => {
  const { client, keyPrefix } = useRedis();
  const { consumeAll } = scriptsOn(client, '');
  let keys = 0;
  const setUp = () => {
    const [epoch, log] = [`${keyPrefix}:${keys}:epoch`, `${keyPrefix}:${keys++}`];
    let calls = 0;
    const began = async (now: number | '', limit = 3, cost = 1): Promise<number> =>
      (await consumeAll(epoch, now, [[`c${calls++}`, [log, limit, 100, cost]]])).began;
    return { epoch, log, began };
  };

  it('is the moment of the first decision, and stays', async () => {
    const { began } = setUp();
    expect(await began(T)).toBe(T);
    expect(await began(T + 5)).toBe(T);
    expect(await began(T + 1_000_000)).toBe(T);
  });

  it.each([
    ['admitted', 3, 1],
    ['refused', 1, 2],
  ])('begins with a call that is %s', async (_, limit, cost) => {
    const { epoch, began } = setUp();
    expect(await began(T, limit, cost)).toBe(T);
    expect(await client.get(epoch)).toBe(String(T));
  });

  it('begins with a call that is admitted to a compact log', async () => {
    const { epoch, log } = setUp();
    await consumeAll(epoch, T, [['a', [log, 500, 100, 1, 'compact']]]);
    expect(await client.get(epoch)).toBe(String(T));
  });

  it('does not begin with a call that failed', async () => {
    const { epoch, log } = setUp();
    await client.set(log, 'x', 'PX', DAY_MS);
    const { answers, began } = await consumeAll(epoch, T, [['a', [log, 3, 100, 1]]]);
    expect([answers, began]).toEqual([[expect.stringContaining('WRONGTYPE')], T]);
    expect(await client.exists(epoch)).toBe(0);
  });

  it('is kept to the microsecond, by the clock of the server', async () => {
    const { epoch, began } = setUp();
    const found = await began('');
    expect(Math.abs(found / 1_000 - Date.now())).toBeLessThan(10_000);
    expect(await client.get(epoch)).toBe(String(found));
  });

  it('is told to a call that is sent again', async () => {
    const { epoch, log } = setUp();
    for (const now of [T, T + 5]) {
      const { answers, began } = await consumeAll(epoch, now, [['again', [log, 1, 100, 1]]]);
      expect([answers[0]![0], began]).toEqual([1, T]);
    }
  });

  it('begins anew where it was lost', async () => {
    const { epoch, began } = setUp();
    await began(T);
    await client.unlink(epoch);
    expect(await began(T + 7)).toBe(T + 7);
  });

  it('begins anew when the clock stepped back behind it', async () => {
    const { began } = setUp();
    await began(T);
    expect(await began(T - 1)).toBe(T - 1);
    expect(await began(T + 1)).toBe(T - 1);
  });

  it('outlives the longest window', async () => {
    const { epoch, began } = setUp();
    await began(T);
    expect(await client.pttl(epoch)).toBeGreaterThan(367 * DAY_MS);
  });

  it('never expires while calls come, however few', async () => {
    const { epoch, began } = setUp();
    await began(T);
    expect(await client.pttl(epoch)).toBeGreaterThan(799 * DAY_MS);
    await client.pexpire(epoch, DAY_MS);
    await began(T + 400 * DAY_MS * 1_000);
    expect(await client.pttl(epoch)).toBeLessThanOrEqual(DAY_MS);
    expect(await began(T + 401 * DAY_MS * 1_000)).toBe(T);
    expect(await client.pttl(epoch)).toBeGreaterThan(399 * DAY_MS);
  });

  it('of the wrong type fails the call before anything is taken', async () => {
    const { epoch, log, began } = setUp();
    await client.hset(epoch, 'a', 'b');
    await client.pexpire(epoch, DAY_MS);
    await expect(began(T)).rejects.toThrow('WRONGTYPE');
    expect(await client.exists(log)).toBe(0);
  });
});
