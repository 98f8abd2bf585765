import { describe, expect, it } from '@jest/globals';
import { startChild } from '../support/child.ts';
import { call, PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const { client, keyPrefix, keys, url: redisUrl } = useRedis();

describe.each(PLATFORMS)('two application processes on one Redis, on %s', (platform) => {
  it('admit exactly 50 of 1,000 calls at 100 in flight, and the log holds 50 entries', async () => {
    const env = { REDIS_URL: redisUrl, KEY_PREFIX: keyPrefix, PLATFORM: platform };
    const start = () => startChild(new URL('application.ts', import.meta.url), env);
    const applications = await Promise.all([start(), start()]);
    try {
      const urls = await Promise.all(applications.map((application) => application.ask<string>('url')));
      const statuses: number[] = [];
      let sent = 0;
      const caller = async (): Promise<void> => {
        while (sent < 1_000) {
          const url = urls[sent++ % 2]!;
          statuses.push((await call(`${url}/voucher-order/seckill/1`, 'POST')).status);
        }
      };
      await Promise.all(Array.from({ length: 100 }, caller));
      expect(statuses.filter((status) => status === 201)).toHaveLength(50);
      expect(statuses.filter((status) => status === 429)).toHaveLength(950);
      const [key, ...others] = await keys();
      expect(others).toEqual([]);
      expect(await client.zcard(key!)).toBe(50);
    } finally {
      await Promise.all(applications.map((application) => application.stop()));
    }
  }, 60_000);
});
