import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashTag, slotOf, tagOfSlot } from '../../src/redis/hash-slot.ts';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.ts';

const KEYS = [
  '',
  'k',
  '123456789',
  'rl:{ip:203.0.113.7}:GET /x:10000',
  '{}x',
  '{}{a}',
  '{a',
  'a}',
  'a{b}c{d}',
  '秒杀',
  '{é😀}',
];

describe('the slot of a key', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  it.each(KEYS)('is the one that Redis says: %j', async (key) => {
    expect(slotOf(key)).toBe(await cluster.slotOf(key));
  });
});

describe('a hash tag', () => {
  it.each([
    ['{a}b', 'a'],
    ['b{a}{c}', 'a'],
    ['{}a', '{}a'],
    ['{}{a}', '{}{a}'],
    ['{{a}}', '{a'],
    ['plain', 'plain'],
  ])('of %j is %j', (key, tag) => {
    expect(hashTag(key)).toBe(tag);
  });

  it('is known for every slot, is short, and stays the same', () => {
    const tags = Array.from({ length: 16_384 }, (_, slot) => tagOfSlot(slot));
    expect(tags.map(slotOf)).toEqual(tags.map((_, slot) => slot));
    expect(Math.max(...tags.map(({ length }) => length))).toBeLessThan(5);
    expect(tagOfSlot(7)).toBe(tags[7]);
  });
});
