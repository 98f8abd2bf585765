import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';

/** The Redis of the run, as one test file uses it. */
export interface TestRedis {
  readonly client: Redis;
  readonly url: string;
  /** Of this file alone. */
  readonly keyPrefix: string;
  /** The keys of this file, but for epochs. */
  readonly keys: () => Promise<string[]>;
}

/**
 * A client and a key prefix for this file. After every test it is checked that no key under the prefix lacks an
 * expiry (but for overrides of rules), and the keys are removed.
 */
export function useRedis(): TestRedis {
  const url = process.env.TEST_REDIS_URL!;
  const keyPrefix = `test-${randomBytes(6).toString('hex')}`;
  const client = new Redis(url, { lazyConnect: true });

  const allKeys = async (): Promise<string[]> => {
    const found = new Set<string>();
    let cursor = '0';
    do {
      const [next, batch] = await client.scan(cursor, 'MATCH', `*${keyPrefix}*`, 'COUNT', 1_000);
      for (const key of batch) found.add(key);
      cursor = next;
    } while (cursor !== '0');
    return [...found].sort();
  };
  const keys = async (): Promise<string[]> => (await allKeys()).filter((key) => !key.endsWith(':epoch'));

  beforeAll(() => client.connect());
  afterEach(async () => {
    const left = await allKeys();
    const expiries = await Promise.all(left.map((key) => client.pttl(key)));
    // -1 is a key without expiry; -2 one that is gone by now. Overrides of rules are to stay.
    const isForEver = (key: string, i: number): boolean => expiries[i] === -1 && !key.endsWith(':rules');
    if (left.length > 0) await client.unlink(left);
    expect(left.filter(isForEver)).toEqual([]);
  });
  afterAll(() => client.quit());
  return { client, url, keyPrefix, keys };
}
