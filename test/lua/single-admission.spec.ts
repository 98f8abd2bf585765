import { beforeEach, describe, expect, it } from '@jest/globals';
import { useRedis } from '../support/redis.ts';
import { scriptsOn } from './scripts.ts';

const T = 1_700_000_000_000_000; // microseconds
const MS = 1_000;

/** One request for one unit of one exact log, on a server whose epoch began: it is decided before all else. */
describe('a unit of one log that has room', () => {
  const { client, keyPrefix } = useRedis();
  const [epoch, epochOfNow] = [`${keyPrefix}:epoch`, `${keyPrefix}:epoch-of-now`];
  const hourAgo = (Date.now() - 3_600_000) * MS;
  const { consume, peek } = scriptsOn(client, epoch);
  const { consume: consumeNow, raw } = scriptsOn(client, epochOfNow);
  let keys = 0;
  const newKey = (): string => `${keyPrefix}:{${keys++}}`;

  beforeEach(async () => {
    await consume(T - 1, 'first', [newKey(), 1, 100, 1]);
    await consumeNow(hourAgo - 1, 'first', [newKey(), 1, 100, 1]);
  });

  it('is admitted up to the limit', async () => {
    const key = newKey();
    expect(await consume(T, 'a', [key, 2, 100, 1])).toEqual([1, T, 1, 100, 0]);
    expect(await consume(T, 'b', [key, 2, 100, 1])).toEqual([1, T, 0, 100, 0]);
    expect(await consume(T, 'c', [key, 2, 100, 1])).toEqual([0, T, 0, 100, 100]);
    expect(await client.zcard(key)).toBe(2);
  });

  it('does not count the units that are as old as the window', async () => {
    const key = newKey();
    await consume(T, 'a', [key, 3, 100, 1]);
    const later = T + 100 * MS;
    expect(await consume(later, 'b', [key, 3, 100, 1])).toEqual([1, later, 2, 100, 0]);
  });

  it('is taken once by a call that is sent twice, at the moment of the first', async () => {
    const key = newKey();
    await consume(T, 'again', [key, 3, 100, 1]);
    const later = T + 40 * MS;
    expect(await consume(later, 'again', [key, 3, 100, 1])).toEqual([1, later, 2, 60, 0]);
    expect(await client.zrange(key, 0, '-1', 'WITHSCORES')).toEqual(['again', String(T)]);
  });

  it('takes 64 of the units with it that left the window, and none that lives', async () => {
    const key = newKey();
    await consume(T, 'old', [key, 200, 100, 70]);
    await consume(T + 50 * MS, 'living', [key, 200, 100, 100]);
    const later = T + 100 * MS;
    expect(await consume(later, 'a', [key, 200, 100, 1])).toEqual([1, later, 99, 100, 0]);
    expect(await client.zcard(key)).toBe(6 + 100 + 1);
    expect(await consume(later, 'b', [key, 200, 100, 1])).toEqual([1, later, 98, 100, 0]);
    expect(await consume(later, 'c', [key, 200, 100, 1])).toEqual([1, later, 97, 100, 0]);
    expect(await client.zcard(key)).toBe(100 + 3);
  });

  it('expires a second after the window, or a minute when the time is given', async () => {
    const [now, given] = [newKey(), newKey()];
    await consumeNow('', 'a', [now, 3, 5_000, 1]);
    await consume(T, 'a', [given, 3, 5_000, 1]);
    const expiries = await Promise.all([client.pttl(now), client.pttl(given)]);
    expect(expiries[0]).toBeGreaterThan(5_000);
    expect(expiries[0]).toBeLessThanOrEqual(6_000);
    expect(expiries[1]).toBeGreaterThan(60_000);
    expect(expiries[1]).toBeLessThanOrEqual(65_000);
  });

  it('is admitted at the microsecond that the clock of the server shows', async () => {
    const key = newKey();
    const timeOf = ([seconds, microseconds]: readonly (number | string)[]) =>
      Number(seconds) * 1_000_000 + Number(microseconds);
    const before = timeOf((await client.time()) as (number | string)[]);
    const [, decidedAt] = await consumeNow('', 'a', [key, 3, 5_000, 1]);
    expect(decidedAt).toBeGreaterThan(before);
    expect(decidedAt).toBeLessThanOrEqual(timeOf((await client.time()) as (number | string)[]));
    expect(await client.zscore(key, 'a')).toBe(String(decidedAt));
  });

  it('is admitted at the moment that is given', async () => {
    const key = newKey();
    expect(await consumeNow(hourAgo, 'a', [key, 3, 5_000, 1])).toEqual([1, hourAgo, 2, 5_000, 0]);
    expect(await client.zscore(key, 'a')).toBe(String(hourAgo));
  });

  it('is counted by a log that became compact', async () => {
    const key = newKey();
    await consume(T, 'a', [key, 500, 100, 2, 'compact']);
    expect(await consume(T, 'b', [key, 300, 100, 1])).toEqual([1, T, 297, 100, 0]);
    expect(await client.type(key)).toBe('string');
    expect((await peek(T, [key, 500, 100, 1, 'compact']))[2]).toBe(497);
  });

  it('makes a compact log where that is asked for', async () => {
    const key = newKey();
    await consume(T, 'a', [key, 500, 100, 1, 'compact']);
    expect(await client.type(key)).toBe('string');
  });

  it('is one of several that a cost takes', async () => {
    const key = newKey();
    expect(await consume(T, 'a', [key, 5, 100, 3])).toEqual([1, T, 2, 100, 0]);
  });

  it.each([
    ['now', ['x', 1, '3 100 1 exact', 'a', 1]],
    ['now', [String(2 ** 53 + 2), 1, '3 100 1 exact', 'a', 1]],
    ['the number of plans', ['', 'x', '3 100 1 exact', 'a', 1]],
    ['the number of plans', ['', 7, '3 100 1 exact', 'a', 1]],
    ['window', ['', 1, `3 ${2 ** 43 + 1} 1 exact`, 'a', 1]],
    ['a plan', ['', 1, '3 100 1 exact 3', 'a', 1]],
    ['limit', ['', 1, '10001 100 1 exact', 'a', 1]],
    ['limit', ['', 1, '0 100 1 exact', 'a', 1]],
    ['layout', ['', 1, '3 100 1 large', 'a', 1]],
    ['window', ['', 1, '3 0 1 exact', 'a', 1]],
    ['cost', ['', 1, '3 100 -1 exact', 'a', 1]],
    ['id', ['', 1, '3 100 1 exact', '', 1]],
    ['id', ['', 1, '3 100 1 exact', 'a#2', 1]],
    ['id', ['', 1, '3 100 1 exact', 'a'.repeat(65), 1]],
    ['the plan of a request', ['', 1, '3 100 1 exact', 'a', 2]],
    ['the plans of the requests take 2 logs', ['', 1, '3 100 1 exact', 'a', 1, 'b', 1]],
  ])('is not admitted with a wrong %s: %j', async (name, args) => {
    const key = newKey();
    await expect(raw('consume', [key, epochOfNow], args)).rejects.toThrow(new RegExp(`ERR floodgate: .*${name}`));
    expect(await client.exists(key)).toBe(0);
  });

  it('is not admitted beside a key that no plan takes', async () => {
    const key = newKey();
    await expect(raw('consume', [key, epochOfNow, newKey()], ['', 1, '3 100 1 exact', 'a', 1])).rejects.toThrow(
      'take 1 logs and an epoch, got 3 keys',
    );
    expect(await client.exists(key)).toBe(0);
  });
});
