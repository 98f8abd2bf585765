import { describe, expect, it } from '@jest/globals';
import { useRedis } from '../support/redis.ts';
import { scriptsOn } from './scripts.ts';

const { client, keyPrefix } = useRedis();
const { consume, consumeAll, peek, refund, raw } = scriptsOn(client, `${keyPrefix}:epoch`);

const T = 1_700_000_000_000_000; // microseconds
const MS = 1_000;
let keys = 0;
const newKey = (): string => `${keyPrefix}:{${keys++}}`;

describe('consume.lua', () => {
  // The algorithm on one screen: limit 3 in 100 ms. Times in ms after T; the reply without its moment.
  it.each([
    [
      'admits up to the limit',
      [
        [0, 1, [1, 2, 100, 0]],
        [0, 1, [1, 1, 100, 0]],
        [0, 1, [1, 0, 100, 0]],
        [0, 1, [0, 0, 100, 100]],
      ],
    ],
    [
      'refuses until the oldest entry is as old as the window',
      [
        [0, 3, [1, 0, 100, 0]],
        [99.999, 1, [0, 0, 1, 1]],
        [100, 1, [1, 2, 100, 0]],
      ],
    ],
    [
      'gives room back entry by entry',
      [
        [0, 1, [1, 2, 100, 0]],
        [30, 1, [1, 1, 100, 0]],
        [60, 1, [1, 0, 100, 0]],
        [70, 1, [0, 0, 90, 30]],
        [100, 1, [1, 0, 100, 0]],
        [110, 1, [0, 0, 90, 20]],
      ],
    ],
    [
      'waits for as many entries as the cost needs',
      [
        [0, 1, [1, 2, 100, 0]],
        [10, 2, [1, 0, 100, 0]],
        [20, 1, [0, 0, 90, 80]],
        [20, 2, [0, 0, 90, 90]],
        [100, 2, [0, 1, 10, 10]],
        [100, 1, [1, 0, 100, 0]],
      ],
    ],
    [
      'refuses a cost above the limit for good, with nothing taken',
      [
        [0, 4, [0, 3, 0, -1]],
        [0, 3, [1, 0, 100, 0]],
        [0, 4, [0, 0, 100, -1]],
      ],
    ],
    [
      'takes nothing for a cost of 0, and refuses it while there is no room for one unit',
      [
        [0, 0, [1, 3, 0, 0]],
        [0, 2, [1, 1, 100, 0]],
        [10, 0, [1, 1, 90, 0]],
        [20, 1, [1, 0, 100, 0]],
        [30, 0, [0, 0, 90, 70]],
        [99.999, 0, [0, 0, 21, 1]],
        [100, 0, [1, 2, 20, 0]],
        [100, 2, [1, 0, 100, 0]],
      ],
    ],
    [
      'rounds up to the millisecond',
      [
        [0.25, 3, [1, 0, 100, 0]],
        [50, 1, [0, 0, 51, 51]],
      ],
    ],
  ] as const)('%s', async (_, rows) => {
    const key = newKey();
    for (const [i, [ms, cost, expected]] of rows.entries()) {
      const now = T + ms * MS;
      expect(await consume(now, `call${i}`, [key, 3, 100, cost])).toEqual([expected[0], now, ...expected.slice(1)]);
    }
  });

  it('judges a window of one millisecond by the microsecond', async () => {
    const key = newKey();
    await consume(T, 'a', [key, 1, 1, 1]);
    expect((await consume(T + 999, 'b', [key, 1, 1, 1]))[0]).toBe(0);
    expect((await consume(T + 1_000, 'c', [key, 1, 1, 1]))[0]).toBe(1);
  });

  it('keeps members as long as the id of their call', async () => {
    const key = newKey();
    await consume(T, 'call', [key, 3, 100, 3]);
    expect(await client.zrange(key, 0, '-1', 'WITHSCORES')).toEqual(
      ['call', 'call#2', 'call#3'].flatMap((member) => [member, String(T)]),
    );
  });

  it('keeps every microsecond of its times', async () => {
    const key = newKey();
    await consume(T + 1, 'a', [key, 3, 100, 1]);
    await consume(T + 2, 'b', [key, 3, 100, 1]);
    expect(await client.zscore(key, 'a')).toBe(String(T + 1));
    expect(await client.zscore(key, 'b')).toBe(String(T + 2));
  });

  it('writes no log for a cost of 0, alone or beside other costs', async () => {
    const [probed, taken] = [newKey(), newKey()];
    await consume(T, 'a', [probed, 3, 100, 0]);
    await consume(T, 'b', [probed, 3, 100, 0], [taken, 3, 100, 1]);
    await consume(T, 'c', [probed, 3, 100, 0, 'compact'], [taken, 3, 100, 1]);
    expect(await client.exists(probed)).toBe(0);
    expect(await client.zcard(taken)).toBe(2);
  });

  it('takes nothing anywhere when a log is full for a cost of 0', async () => {
    const [full, open] = [newKey(), newKey()];
    await consume(T, 'a', [full, 1, 100, 1]);
    expect(await consume(T, 'b', [open, 5, 100, 1], [full, 1, 100, 0])).toEqual([0, T, 5, 0, 0, 0, 100, 100]);
    expect(await client.exists(open)).toBe(0);
  });

  it('repairs a missing expiry in a call that takes nothing, and leaves no log without one', async () => {
    const key = newKey();
    await consume(T, 'a', [key, 3, 100, 1]);
    await client.persist(key);
    expect((await consume(T, 'b', [key, 3, 100, 0]))[0]).toBe(1);
    expect(await client.pttl(key)).toBeGreaterThan(0);
    expect(await client.zrange(key, 0, '-1')).toEqual(['a']);
  });

  it('begins the epoch with a call that takes nothing, so that its age is told', async () => {
    const epoch = `${keyPrefix}:free:epoch`;
    const free = [newKey(), 3, 100, 0] as const;
    expect((await consumeAll(epoch, T, [['a', free]])).began).toBe(T);
    expect((await consumeAll(epoch, T + 5, [['b', free]])).began).toBe(T);
  });

  it('takes from all logs or from none', async () => {
    const [full, open] = [newKey(), newKey()];
    await consume(T, 'a', [full, 1, 100, 1]);
    const reply = await consume(T, 'b', [open, 5, 100, 1], [full, 1, 100, 1]);
    expect(reply).toEqual([0, T, 5, 0, 0, 0, 100, 100]);
    expect(await client.exists(open)).toBe(0);
  });

  it('takes an id back from logs that it was added to before it was found in another', async () => {
    const [lost, kept] = [newKey(), newKey()];
    await consume(T, 'again', [lost, 5, 100, 2], [kept, 5, 1_000, 2]);
    await client.del(lost);
    expect(await consume(T + 1, 'again', [lost, 5, 100, 2], [kept, 5, 1_000, 2])).toEqual([
      1,
      T + 1,
      5,
      0,
      0,
      3,
      1_000,
      0,
    ]);
    expect(await client.exists(lost)).toBe(0);
  });

  it.each([1, 3])('admits an id of %d units afresh when its entries left but were not trimmed yet', async (cost) => {
    const key = newKey();
    await consume(T, 'again', [key, 5, 100, cost]);
    const later = T + 100 * MS;
    expect(await consume(later, 'again', [key, 5, 100, cost])).toEqual([1, later, 5 - cost, 100, 0]);
    expect((await peek(later, [key, 5, 100, 1]))[2]).toBe(5 - cost);
  });

  it('refuses an id of which only entries that left are there, when the log is full', async () => {
    const key = newKey();
    await consume(T, 'again', [key, 1, 100, 1]);
    for (let i = 0; i < 70; i++) await client.zadd(key, T - 1_000 - i, `old${i}`);
    const later = T + 100 * MS;
    await consume(later, 'other', [key, 1, 100, 1]);
    expect(await client.zscore(key, 'again')).not.toBeNull();
    expect(await consume(later, 'again', [key, 1, 100, 1])).toEqual([0, later, 0, 100, 100]);
  });

  it('leaves nothing free, and owes nothing, when the limit shrinks below what is taken', async () => {
    const key = newKey();
    for (let i = 0; i < 3; i++) await consume(T + i * MS, `a${i}`, [key, 3, 100, 1]);
    const later = T + 10 * MS;
    expect(await peek(later, [key, 1, 100, 1])).toEqual([0, later, 0, 92, 92]);
  });

  it('tells a log that has room no time to wait for, beside one that has none', async () => {
    const [full, open] = [newKey(), newKey()];
    await consume(T, 'a', [full, 1, 100, 1], [open, 5, 1_000, 1]);
    expect(await peek(T, [full, 1, 100, 1], [open, 5, 1_000, 1])).toEqual([0, T, 0, 100, 100, 4, 1_000, 0]);
  });

  describe('expiry', () => {
    const expiryOf = (key: string) => client.pttl(key);

    it('is set with the data, a second longer than the window', async () => {
      const key = newKey();
      await consume('', 'a', [key, 3, 5_000, 1]);
      const expiry = await expiryOf(key);
      expect(expiry).toBeGreaterThan(5_000);
      expect(expiry).toBeLessThanOrEqual(6_000);
    });

    it('is a minute longer when the time is given', async () => {
      const key = newKey();
      await consume(T, 'a', [key, 3, 5_000, 1]);
      expect(await expiryOf(key)).toBeGreaterThan(60_000);
    });

    it.each([
      ['an admission', 2, 'b'],
      ['a refusal', 1, 'b'],
      ['a repetition', 2, 'a'],
      ['a repetition on a full log', 1, 'a'],
    ])('comes back with %s when somebody removed it', async (_, limit, id) => {
      const key = newKey();
      await consume('', 'a', [key, limit, 5_000, 1]);
      await client.persist(key);
      await consume('', id, [key, limit, 5_000, 1]);
      expect(await expiryOf(key)).toBeGreaterThan(0);
    });

    it('comes back with a refund', async () => {
      const key = newKey();
      await consume('', 'a', [key, 3, 5_000, 1]);
      await consume('', 'b', [key, 3, 5_000, 1]);
      await client.persist(key);
      await refund('', 'a', [key, 3, 5_000, 1]);
      expect(await expiryOf(key)).toBeGreaterThan(0);
    });
  });

  describe('bounded work', () => {
    it('trims 64 of the entries that left with each admission, not all at once', async () => {
      const key = newKey();
      for (let i = 0; i < 3; i++) await consume(T, `old${i}`, [key, 1_000, 100, 100]);
      const later = T + 100 * MS;
      await consume(later, 'a', [key, 1_000, 100, 1]);
      expect(await client.zcard(key)).toBe(300 - 64 + 1);
      await consume(later, 'b', [key, 1_000, 100, 100]);
      expect(await client.zcard(key)).toBe(300 - 64 + 1 + 100 - 200);
    });

    it('trims nothing that lives, where less has left than may be trimmed', async () => {
      const key = newKey();
      await consume(T, 'old', [key, 200, 100, 5]);
      await consume(T + 50 * MS, 'living', [key, 200, 100, 20]);
      const later = T + 100 * MS;
      expect(await consume(later, 'a', [key, 200, 100, 2])).toEqual([1, later, 178, 100, 0]);
      expect(await client.zcard(key)).toBe(22);
    });

    it('never counts or trims what is stale as live, or the other way round', async () => {
      const key = newKey();
      for (let i = 0; i < 2; i++) await consume(T, `old${i}`, [key, 200, 100, 100]);
      const later = T + 100 * MS;
      expect(await consume(later, 'a', [key, 200, 100, 100])).toEqual([1, later, 100, 100, 0]);
      expect(await consume(later, 'b', [key, 200, 100, 100])).toEqual([1, later, 0, 100, 0]);
      expect((await consume(later, 'c', [key, 200, 100, 1]))[0]).toBe(0);
    });
  });

  describe('a clock that stepped back', () => {
    it('does not admit more than the limit', async () => {
      const key = newKey();
      await consume(T, 'a', [key, 1, 1_000, 1]);
      expect((await consume(T - 3_600_000 * MS, 'b', [key, 1, 1_000, 1]))[0]).toBe(0);
    });

    it('locks nobody out for longer than a window from the first refusal', async () => {
      const key = newKey();
      for (let i = 0; i < 3; i++) await consume(T + i, `a${i}`, [key, 3, 1_000, 1]);
      const back = T - 3_600_000 * MS;
      expect(await consume(back, 'b', [key, 3, 1_000, 1])).toEqual([0, back, 0, 1_000, 1_000]);
      expect((await consume(back + 999 * MS, 'c', [key, 3, 1_000, 1]))[0]).toBe(0);
      expect((await consume(back + 1_000 * MS, 'd', [key, 3, 1_000, 3]))[0]).toBe(1);
    });

    it('re-stamps a long log too, in steps that the server can take', async () => {
      const key = newKey();
      for (let i = 0; i < 100; i++) await consume(T + i, `a${i}`, [key, 10_000, 1_000, 100]);
      const back = T - 3_600_000 * MS;
      expect(await consume(back, 'b', [key, 10_000, 1_000, 1])).toEqual([0, back, 0, 1_000, 1_000]);
      expect(await client.zcount(key, back, back)).toBe(10_000);
    });
  });

  it.each([
    ['now', ['x', 1, '3 100 1 exact', 'a', 1]],
    ['the number of plans', ['', 0, 'a', 1]],
    ['the number of plans', ['', 'x', '3 100 1 exact', 'a', 1]],
    ['a plan', ['', 1, '', 'a', 1]],
    ['a plan', ['', 1, '3 100', 'a', 1]],
    ['a plan', ['', 1, '3 100 1 exact 3', 'a', 1]],
    ['limit', ['', 1, 'many 100 1 exact', 'a', 1]],
    ['limit', ['', 1, '0 100 1 exact', 'a', 1]],
    ['limit', ['', 1, '10001 100 1 exact', 'a', 1]],
    ['limit', ['', 1, '1000000001 100 1 compact', 'a', 1]],
    ['layout', ['', 1, '3 100 1 large', 'a', 1]],
    ['window', ['', 1, '3 0 1 exact', 'a', 1]],
    ['window', ['', 1, '3 1.5 1 exact', 'a', 1]],
    ['cost', ['', 1, '3 100 nan exact', 'a', 1]],
    ['cost', ['', 1, '3 100 -1 exact', 'a', 1]],
    ['id', ['', 1, '3 100 1 exact', '', 1]],
    ['id', ['', 1, '3 100 1 exact', 'a#2', 1]],
    ['id', ['', 1, '3 100 1 exact', 'a'.repeat(65), 1]],
    ['the plan of a request', ['', 1, '3 100 1 exact', 'a', 2]],
    ['the plan of a request', ['', 1, '3 100 1 exact', 'a']],
    ['the plans of the requests take 0 logs', ['', 1, '3 100 1 exact']],
    ['the plans of the requests take 2 logs', ['', 1, '3 100 1 exact 3 100 1 exact', 'a', 1]],
  ])('answers a wrong %s with an error that names it: %j', async (name, args) => {
    const key = newKey();
    await expect(raw('consume', [key, `${keyPrefix}:epoch`], args)).rejects.toThrow(
      new RegExp(`ERR floodgate: .*${name}`),
    );
    expect(await client.exists(key)).toBe(0);
  });
});

describe('all scripts', () => {
  it('refuse a key that stands in KEYS twice', async () => {
    const key = newKey();
    const twice = consume(T, 'a', [key, 3, 100, 1], [key, 3, 100, 1]);
    await expect(twice).rejects.toThrow('a key stands in KEYS twice');
    expect(await client.exists(key)).toBe(0);
  });
});

describe('peek.lua', () => {
  it('answers as consume would, and writes nothing', async () => {
    const key = newKey();
    await consume(T, 'a', [key, 2, 100, 1]);
    const before = await client.zrange(key, 0, '-1', 'WITHSCORES');
    expect(await peek(T + 40 * MS, [key, 2, 100, 1])).toEqual([1, T + 40 * MS, 1, 60, 0]);
    expect(await peek(T + 40 * MS, [key, 2, 100, 2])).toEqual([0, T + 40 * MS, 1, 60, 60]);
    expect(await peek(T + 40 * MS, [key, 2, 100, 0])).toEqual([1, T + 40 * MS, 1, 60, 0]);
    expect(await peek(T + 40 * MS, [key, 1, 100, 0])).toEqual([0, T + 40 * MS, 0, 60, 60]);
    expect(await client.zrange(key, 0, '-1', 'WITHSCORES')).toEqual(before);
  });

  it('answers for a log that does not exist', async () => {
    expect(await peek(T, [newKey(), 2, 100, 1])).toEqual([1, T, 2, 0, 0]);
  });

  it('names a wrong argument', async () => {
    await expect(raw('peek', [newKey()], ['', 3, 100, -1, 'exact'])).rejects.toThrow('cost (ARGV[4])');
  });
});

describe('refund.lua', () => {
  it('takes out the units of the call, and only those', async () => {
    const [a, b] = [newKey(), newKey()];
    await consume(T, 'mine', [a, 5, 100, 2], [b, 5, 100, 1]);
    await consume(T, 'other', [a, 5, 100, 1]);
    expect(await refund(T, 'mine', [a, 5, 100, 2], [b, 5, 100, 1])).toBe(3);
    expect(await client.zrange(a, 0, '-1')).toEqual(['other']);
    expect(await client.exists(b)).toBe(0);
  });

  it('takes out nothing for a cost of 0', async () => {
    const [a, b] = [newKey(), newKey()];
    await consume(T, 'mine', [a, 5, 100, 1]);
    expect(await refund(T, 'mine', [a, 5, 100, 0], [b, 5, 100, 0, 'compact'])).toBe(0);
    expect(await client.zrange(a, 0, '-1')).toEqual(['mine']);
  });

  it('makes no key and no credit', async () => {
    const key = newKey();
    expect(await refund(T, 'nobody', [key, 5, 100, 1])).toBe(0);
    expect(await client.exists(key)).toBe(0);
  });

  it('names a wrong argument', async () => {
    await expect(raw('refund', [newKey(), newKey()], ['', 'a b', '', 3, 100, 1, 'exact'])).rejects.toThrow(
      'id (ARGV[2])',
    );
    await expect(raw('refund', [newKey(), newKey()], ['', 'a', 'now', 3, 100, 1, 'exact'])).rejects.toThrow('ARGV[3]');
  });
});
