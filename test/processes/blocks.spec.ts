import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startChild, type Child } from '../support/child.ts';
import { call, PLATFORMS, type Answer } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const { client, keyPrefix, url: redisUrl } = useRedis();

const HOUR_MS = 3_600_000;
const keyOf = (who: string, log: string): string =>
  `${keyPrefix}:{key:${who}}:GET /voucher-order/guess/:who#~${HOUR_MS}:${log}`;

// Each of 50 refusals counts, wherever it was answered: most are from the memory of a process.
describe.each(PLATFORMS)('two application processes that block after 50 refusals, on %s', (platform) => {
  let applications: readonly Child[];
  let urls: readonly string[];

  beforeAll(async () => {
    const env = { REDIS_URL: redisUrl, KEY_PREFIX: keyPrefix, PLATFORM: platform };
    const start = () => startChild(new URL('application.ts', import.meta.url), env);
    applications = await Promise.all([start(), start()]);
    urls = await Promise.all(applications.map((application) => application.ask<string>('url')));
  }, 60_000);
  afterAll(() => Promise.all(applications.map((application) => application.stop())));

  const guess = (who: string, i: number): Promise<Answer> => call(`${urls[i % 2]}/voucher-order/guess/${who}`, 'GET');
  const guessAtOnce = (who: string, times: number): Promise<readonly Answer[]> =>
    Promise.all(Array.from({ length: times }, (_, i) => guess(who, i)));
  const isBlock = ({ headers }: Answer): boolean => Number(headers.get('retry-after')) > HOUR_MS / 1_000;

  it.each(['anna', 'bert', 'carl'])('count 49 concurrent ones, and the next begins the block: %s', async (who) => {
    await guess(who, 0);
    const answers = await guessAtOnce(who, 49);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(49);
    expect(answers.filter(isBlock)).toEqual([]);
    expect(await client.zcard(`${keyOf(who, 'refusals')}:${HOUR_MS}`)).toBe(49);
    expect(isBlock(await guess(who, 1))).toBe(true);
    expect(await client.zcard(`${keyOf(who, 'refusals')}:${HOUR_MS}`)).toBe(50);
    expect([await guess(who, 0), await guess(who, 1)].map(isBlock)).toEqual([true, true]);
  });

  it('begin one block, however many more come at once', async () => {
    await guess('many', 0);
    const answers = await guessAtOnce('many', 150);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(150);
    expect(answers.filter(isBlock)).toHaveLength(101);
    expect(await client.zcard(`${keyOf('many', 'refusals')}:${HOUR_MS}`)).toBe(50);
    expect(await client.zcard(`${keyOf('many', 'block')}:${2 * HOUR_MS}`)).toBe(1);
  });
});
