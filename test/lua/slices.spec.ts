import { describe, expect, it } from '@jest/globals';
import { useRedis } from '../support/redis.ts';
import { scriptsOn, type ScriptCharge } from './scripts.ts';

const { client, keyPrefix } = useRedis();
const { consume, peek, refund, refundOf } = scriptsOn(client, `${keyPrefix}:epoch`);

const T = 1_700_000_000_000_000; // microseconds, at the end of a slice of each window here
const MS = 1_000;
let keys = 0;
const newKey = (): string => `${keyPrefix}:{${keys++}}`;

/** In units of a window of a second, whose slices are 10 ms. */
const compact = (key: string, limit: number, cost = 1): ScriptCharge => [key, limit, 1_000, cost, 'compact'];
const exact = (key: string, limit: number, cost = 1): ScriptCharge => [key, limit, 1_000, cost, 'exact'];

describe('a compact log', () => {
  // Limit 3 in 1,000 ms: times in ms after T, costs, and the reply without its moment.
  it.each([
    [
      'counts a unit as admitted at the end of its slice',
      [
        [1, 3, [1, 0]],
        [1_009.999, 1, [0, 0, 1, 1]],
        [1_010, 1, [1, 2]],
      ],
    ],
    [
      'at the end of a slice is exact',
      [
        [10, 3, [1, 0]],
        [1_009, 1, [0, 0, 1, 1]],
        [1_010, 1, [1, 2]],
      ],
    ],
    [
      'gives room back slice by slice',
      [
        [5, 1, [1, 2]],
        [9, 1, [1, 1]],
        [15, 1, [1, 0]],
        [20, 1, [0, 0, 1_000, 990]],
        [1_010, 2, [1, 0]],
        [1_011, 1, [0, 0, 999, 9]],
        [1_020, 1, [1, 0]],
      ],
    ],
    [
      'takes nothing for a cost of 0, and refuses it while there is no room for one unit',
      [
        [1, 0, [1, 3]],
        [5, 2, [1, 1]],
        [15, 0, [1, 1]],
        [20, 1, [1, 0]],
        [30, 0, [0, 0, 990, 980]],
        [1_010, 0, [1, 2]],
      ],
    ],
    [
      'waits for as many units as the cost needs',
      [
        [10, 2, [1, 1]],
        [20, 1, [1, 0]],
        [30, 1, [0, 0, 990, 980]],
        [30, 2, [0, 0, 990, 980]],
        [30, 3, [0, 0, 990, 990]],
      ],
    ],
    [
      'refuses a cost above the limit for good, with nothing taken',
      [
        [0, 4, [0, 3, 0, -1]],
        [0, 3, [1, 0]],
      ],
    ],
    [
      'starts anew after a pause, however long',
      [
        [0, 3, [1, 0]],
        [1_500, 3, [1, 0]],
        [86_400_000, 2, [1, 1]],
        [86_400_000, 2, [0, 1, 1_000, 1_000]],
      ],
    ],
  ] as const)('%s', async (_, rows) => {
    const key = newKey();
    for (const [i, [ms, cost, expected]] of rows.entries()) {
      const now = T + ms * MS;
      const [verdict, , ...readings] = await consume(now, `call${i}`, compact(key, 3, cost));
      expect([verdict, ...readings.slice(0, expected.length - 1)]).toEqual(expected);
    }
  });

  it('keeps a window of a millisecond in slices of 10 microseconds', async () => {
    const charge: ScriptCharge = [newKey(), 1, 1, 1, 'compact'];
    expect((await consume(T + 1, 'a', charge)).slice(0, 1)).toEqual([1]);
    expect((await consume(T + 1_009, 'b', charge)).slice(0, 1)).toEqual([0]);
    expect((await consume(T + 1_010, 'c', charge)).slice(0, 1)).toEqual([1]);
  });

  it('is a string that expires after the last of its slices', async () => {
    const key = newKey();
    await consume('', 'a', [key, 3, 60_000, 1, 'compact']);
    expect(await client.type(key)).toBe('string');
    const left = await client.pttl(key);
    expect(left).toBeGreaterThan(61_000);
    expect(left).toBeLessThanOrEqual(61_600);
  });

  it('takes as many bytes as it has slices with units, and between them', async () => {
    const key = newKey();
    const bytesAfter = async (ms: number) => {
      await consume(T + ms * MS, `c${ms}`, compact(key, 3));
      return client.strlen(key);
    };
    expect([await bytesAfter(0), await bytesAfter(1), await bytesAfter(25), await bytesAfter(5_000)]).toEqual([
      24, 28, 36, 24,
    ]);
  });

  it('is not made by a refusal', async () => {
    const key = newKey();
    expect((await consume(T, 'a', compact(key, 3, 4))).slice(0, 1)).toEqual([0]);
    expect(await client.exists(key)).toBe(0);
  });

  it('is decided with exact logs in one call, all or none', async () => {
    const [small, large] = [newKey(), newKey()];
    await consume(T, 'a', exact(small, 1), compact(large, 1_000));
    expect((await consume(T, 'b', exact(small, 1), compact(large, 1_000))).slice(0, 1)).toEqual([0]);
    expect((await consume(T, 'b', compact(large, 1_000), exact(small, 1))).slice(0, 1)).toEqual([0]);
    expect((await peek(T, compact(large, 1_000))).slice(0, 3)).toEqual([1, T, 999]);
    await consume(T, 'c', compact(large, 1_000, 999));
    const other = newKey();
    expect((await consume(T, 'd', exact(other, 5), compact(large, 1_000))).slice(0, 1)).toEqual([0]);
    expect(await client.exists(other)).toBe(0);
  });

  it('is not charged by a call that an exact log beside it knows', async () => {
    const [small, large] = [newKey(), newKey()];
    for (let i = 0; i < 3; i++) await consume(T, 'again', compact(large, 1_000), exact(small, 5));
    expect((await peek(T, exact(small, 5), compact(large, 1_000))).slice(0, 6)).toEqual([1, T, 4, 1_000, 0, 999]);
    await client.unlink(large);
    await consume(T, 'again', compact(large, 1_000), exact(small, 5));
    expect(await client.exists(large)).toBe(0);
  });

  it('is read without being written', async () => {
    const key = newKey();
    await consume(T, 'a', compact(key, 3));
    const before = await client.getBuffer(key);
    await peek(T + 5_000_000, compact(key, 3));
    expect(await client.getBuffer(key)).toEqual(before);
  });

  it.each(['', 'text', 'x'.repeat(21), 'x'.repeat(19)])(
    'is told apart from a text of somebody else: %j',
    async (text) => {
      const key = newKey();
      await client.set(key, text, 'PX', 60_000);
      await expect(consume(T, 'a', compact(key, 3))).rejects.toThrow('WRONGTYPE');
      await expect(peek(T, compact(key, 3))).rejects.toThrow('WRONGTYPE');
      expect(await client.get(key)).toBe(text);
    },
  );

  it.each(['compact', 'exact'] as const)('of another type fails, asked as %s', async (layout) => {
    const key = newKey();
    await client.hset(key, 'a', 'b');
    await expect(consume(T, 'a', [key, 3, 1_000, 1, layout])).rejects.toThrow('WRONGTYPE');
    await expect(peek(T, [key, 3, 1_000, 1, layout])).rejects.toThrow('WRONGTYPE');
    await client.unlink(key);
  });

  describe('whose layout changes', () => {
    it('is folded from an exact log when the limit grows, with each unit in its slice', async () => {
      const key = newKey();
      await consume(T + 5 * MS, 'a', exact(key, 3));
      await consume(T + 15 * MS, 'b', exact(key, 3, 2));
      expect((await consume(T + 100 * MS, 'c', compact(key, 4))).slice(0, 3)).toEqual([1, expect.anything(), 0]);
      expect(await client.type(key)).toBe('string');
      // One of 10 ms, two of 20 ms, one of 100 ms.
      expect(await peek(T + 100 * MS, compact(key, 4))).toEqual([0, T + 100 * MS, 0, 1_000, 910]);
      expect(await peek(T + 100 * MS, compact(key, 4, 2))).toEqual([0, T + 100 * MS, 0, 1_000, 920]);
      expect(await peek(T + 100 * MS, compact(key, 4, 4))).toEqual([0, T + 100 * MS, 0, 1_000, 1_000]);
    });

    it('is folded without what left the window already', async () => {
      const key = newKey();
      await consume(T + 1 * MS, 'a', exact(key, 9, 5));
      await consume(T + 2 * MS, 'b', exact(key, 9, 3));
      // The first of the two slices' units left, the others of the same slice not.
      expect((await consume(T + 1_001 * MS, 'c', compact(key, 500))).slice(0, 3)).toEqual([1, expect.anything(), 496]);
    });

    it('is folded with the units at the border of two slices counted once, and those of the future', async () => {
      const key = newKey();
      for (const ms of [0, 500, 1_000, 1_200]) await consume(T + ms * MS, `a${ms}`, exact(key, 9));
      // A window after the first; the last is of a time before the clock stepped back.
      const now = T + 1_000 * MS;
      expect((await peek(now, compact(key, 9))).slice(0, 3)).toEqual([1, now, 6]);
      expect(await peek(now, compact(key, 3))).toEqual([0, now, 0, 1_000, 500]);
      expect(await peek(now, compact(key, 3, 2))).toEqual([0, now, 0, 1_000, 1_000]);
    });

    it('is folded with its reset at the last of its units', async () => {
      const key = newKey();
      await consume(T + 5 * MS, 'a', exact(key, 9));
      expect(await peek(T + 100 * MS, compact(key, 9))).toEqual([1, T + 100 * MS, 8, 910, 0]);
    });

    it('stays compact when the limit shrinks, until it expires', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 500, 10));
      expect(await consume(T + 1, 'b', exact(key, 10))).toEqual([0, T + 1, 0, 1_000, 1_000]);
      expect((await consume(T + 1, 'b', exact(key, 12))).slice(0, 3)).toEqual([1, T + 1, 1]);
      expect(await client.type(key)).toBe('string');
    });

    it('never holds more than its limit through it all', async () => {
      const key = newKey();
      let admitted = 0;
      for (let i = 0; i < 100; i++) {
        const charge = i % 2 === 0 ? exact(key, 20) : compact(key, 20);
        admitted += (await consume(T + i * 7 * MS, `a${i}`, charge))[0] as number;
      }
      expect(admitted).toBe(20);
    });
  });

  describe('of which a call is given back', () => {
    it('loses the units in the slice of the call', async () => {
      const key = newKey();
      await consume(T + 5 * MS, 'a', compact(key, 5, 2));
      await consume(T + 25 * MS, 'b', compact(key, 5, 2));
      expect(await refundOf(T + 25 * MS, T + 30 * MS, 'b', compact(key, 5, 2))).toBe(2);
      expect(await peek(T + 30 * MS, compact(key, 5))).toEqual([1, T + 30 * MS, 3, 980, 0]);
    });

    it('gives it back once, also when the refund comes twice', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 5, 2));
      await consume(T, 'b', compact(key, 5, 2));
      expect(await refundOf(T, T, 'b', compact(key, 5, 2))).toBe(2);
      expect(await refundOf(T, T, 'b', compact(key, 5, 2))).toBe(0);
      expect((await peek(T, compact(key, 5))).slice(0, 3)).toEqual([1, T, 3]);
      expect(await client.pttl(`${key}:b~`)).toBeGreaterThan(0);
    });

    it('does not know a call whose moment is not told', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 5));
      expect(await refund(T, 'a', compact(key, 5))).toBe(0);
    });

    it('keeps the units of calls after it was made anew', async () => {
      const key = newKey();
      await consume(T + 1, 'a', compact(key, 5));
      await client.unlink(key);
      await consume(T + 2, 'b', compact(key, 5));
      expect(await refundOf(T + 1, T + 2, 'a', compact(key, 5))).toBe(0);
      expect((await peek(T + 2, compact(key, 5))).slice(0, 3)).toEqual([1, T + 2, 4]);
    });

    it('loses no more than the slice has, however large the cost', async () => {
      const key = newKey();
      await consume(T + 5 * MS, 'a', compact(key, 100_000, 2));
      await consume(T + 25 * MS, 'b', compact(key, 100_000, 20_000));
      expect(await refundOf(T + 5 * MS, T + 30 * MS, 'a', compact(key, 100_000, 3))).toBe(2);
      expect(await refundOf(T + 25 * MS, T + 30 * MS, 'b', compact(key, 100_000, 20_000))).toBe(20_000);
      expect(await peek(T + 30 * MS, compact(key, 100_000))).toEqual([1, T + 30 * MS, 100_000, 0, 0]);
    });

    it('loses nothing where the slice has no units, and remembers no refund', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 5));
      await consume(T + 25 * MS, 'b', compact(key, 5));
      expect(await refundOf(T + 15 * MS, T + 25 * MS, 'c', compact(key, 5))).toBe(0);
      expect(await client.exists(`${key}:c~`)).toBe(0);
      expect((await peek(T + 25 * MS, compact(key, 5))).slice(0, 3)).toEqual([1, T + 25 * MS, 3]);
    });

    it('keeps what was counted before it was folded, since that is not known by slice', async () => {
      const key = newKey();
      await consume(T, 'a', exact(key, 5));
      await consume(T + 1, 'b', compact(key, 5));
      expect(await refundOf(T, T + 1, 'a', exact(key, 5))).toBe(0);
      expect(await refundOf(T + 1, T + 1, 'b', compact(key, 5))).toBe(1);
    });

    it('has nothing to give back after the window', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 5));
      expect(await refundOf(T, T + 1_000 * MS, 'a', compact(key, 5))).toBe(0);
      expect(await client.exists(`${key}:a~`)).toBe(0);
    });
  });

  describe('when the clock of the server steps back', () => {
    const back = T - 3_600_000 * MS;

    it('locks nobody out for longer than a window', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 2, 2));
      expect(await consume(back, 'b', compact(key, 2))).toEqual([0, back, 0, 1_000, 1_000]);
      expect(await consume(back + 500 * MS, 'b', compact(key, 2))).toEqual([0, back + 500 * MS, 0, 500, 500]);
      expect((await consume(back + 1_000 * MS, 'b', compact(key, 2))).slice(0, 1)).toEqual([1]);
    });

    it('still counts what was admitted before', async () => {
      const key = newKey();
      await consume(T - 20 * MS, 'a', compact(key, 4));
      await consume(T, 'b', compact(key, 4, 2));
      expect((await consume(T - 15 * MS, 'c', compact(key, 4))).slice(0, 3)).toEqual([1, expect.anything(), 0]);
      expect(await peek(T - 15 * MS, compact(key, 4, 2))).toEqual([0, T - 15 * MS, 0, 1_005, 1_005]);
      expect(await peek(T - 15 * MS, compact(key, 4))).toEqual([0, T - 15 * MS, 0, 1_005, 995]);
      for (const [ms, left] of [
        [979, 0],
        [980, 1],
        [989, 1],
        [990, 4],
      ] as const) {
        expect((await peek(T + ms * MS, compact(key, 4)))[2]).toBe(left);
      }
    });

    it('gives nothing back of a slice that is filled in two passes, to its very end', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 5));
      await consume(T - 20 * MS, 'b', compact(key, 5));
      await consume(T, 'c', compact(key, 5));
      expect(await refundOf(T, T, 'a', compact(key, 5))).toBe(0);
      expect((await peek(T, compact(key, 5)))[2]).toBe(2);
    });

    it('gives nothing back until it is where it was: the calls of one slice come from two passes', async () => {
      const key = newKey();
      await consume(T, 'a', compact(key, 5));
      await consume(back, 'b', compact(key, 5));
      expect(await refundOf(T, back, 'a', compact(key, 5))).toBe(0);
      expect(await refundOf(back, back, 'b', compact(key, 5))).toBe(0);
      await consume(T + 1_000 * MS, 'c', compact(key, 5));
      expect(await refundOf(T + 1_000 * MS, T + 1_000 * MS, 'c', compact(key, 5))).toBe(1);
    });
  });
});
