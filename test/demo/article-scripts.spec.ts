import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useRedis } from '../support/redis.ts';
import { FIRST_ARTICLE_LUA, SECOND_ARTICLE_LUA } from './article-lua.ts';
import { firstArticle, secondArticle } from './article-scripts.ts';

const OPENED_AT = 1_764_000_000_000;
const WINDOW_MS = 10_000;

const at = (...times: readonly number[]): readonly number[] => times.map((ms) => OPENED_AT + ms);

describe("The first article's script", () => {
  const decisions = (limit: number, times: readonly number[]): readonly boolean[] =>
    times.map(firstArticle(limit, WINDOW_MS));

  it('counts all requests of a second as one', () => {
    expect(decisions(2, at(0, 1, 500, 999, 1_000, 1_001))).toEqual([true, true, true, true, true, false]);
  });

  it('forgets a second when the whole seconds of the window are over', () => {
    expect(decisions(1, at(999, 9_999, 10_000))).toEqual([true, false, true]);
  });
});

describe("The second article's script", () => {
  const decisions = (limit: number, times: readonly number[]): readonly boolean[] =>
    times.map(secondArticle(limit, WINDOW_MS));

  it('counts all requests of a millisecond as one', () => {
    expect(decisions(2, at(0, 0.2, 0.9, 1, 1, 2))).toEqual([true, true, true, true, false, false]);
  });

  it('forgets a millisecond a window later', () => {
    expect(decisions(1, at(0, 9_999, 10_000))).toEqual([true, false, true]);
  });
});

describe.each([
  { title: 'first', algorithm: firstArticle, lua: FIRST_ARTICLE_LUA, tickMs: 1_000 },
  { title: 'second', algorithm: secondArticle, lua: SECOND_ARTICLE_LUA, tickMs: 1 },
])("The simulation of the $title article's script", ({ title, algorithm, lua, tickMs }) => {
  const redis = useRedis();
  let runs = 0;

  async function decisionsOfRedis(limit: number, times: readonly number[]): Promise<readonly boolean[]> {
    const key = `${redis.keyPrefix}:${title}:${runs++}`;
    const pipeline = redis.client.pipeline();
    for (const time of times) {
      pipeline.eval(lua, 1, key, Math.floor(time / tickMs), WINDOW_MS / tickMs, limit, WINDOW_MS / 1_000);
    }
    return (await pipeline.exec())!.map(([error, admitted]) => {
      if (error) throw error;
      return admitted === 1;
    });
  }

  it('decides any arrivals as its commands do on Redis', async () => {
    const gap = fc.oneof(fc.constantFrom(0, WINDOW_MS), fc.nat({ max: 3 }), fc.nat({ max: 4_000 }));
    const gaps = fc.array(gap, { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), gaps, async (limit, steps) => {
        let time = OPENED_AT;
        const times = steps.map((step) => (time += step));
        expect(times.map(algorithm(limit, WINDOW_MS))).toEqual(await decisionsOfRedis(limit, times));
      }),
      { numRuns: 60 },
    );
  });
});
