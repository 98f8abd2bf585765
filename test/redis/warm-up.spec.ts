import { RedisStore } from '../../src/redis/redis-store.ts';
import { describeWarmUp } from '../contract/warm-up.ts';
import { useRedis } from '../support/redis.ts';

const { client, keyPrefix } = useRedis();

for (const layout of ['exact', 'compact'] as const) {
  describeWarmUp(
    'RedisStore',
    (now, count) => Array.from({ length: count }, () => new RedisStore(client, { keyPrefix, now })),
    layout,
    30,
  );
}
