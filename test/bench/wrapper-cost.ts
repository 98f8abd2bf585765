/**
 * What deadline, circuit breaker and local fallback cost while Redis is in health: CPU time of this process per decision,
 * of the store that the module uses against the bare one, on the same connection settings and the same work.
 * Usage: npm run bench:wrapper [-- rounds]. Rounds are interleaved; the interval is that of the mean of their ratios.
 */
import { Redis } from 'ioredis';
import { callIds } from '../../src/core/call-id.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { RedisStore } from '../../src/redis/redis-store.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { meanWithInterval } from './statistics.ts';

const DECISIONS = 20_000;
const IN_FLIGHT = 50;
const KEYS = 10_000;

const rounds = Number(process.argv[2] ?? 15);
const server = await startRedisServer();
const client = new Redis(server.url, { enableOfflineQueue: false, lazyConnect: true });
await client.connect();
const bare = new RedisStore(client, { keyPrefix: 'bare' });
await bare.prepare();
const wrapped = await createRateLimitStore({ redis: client, keyPrefix: 'wrapped', decisionTimeout: '5s' });
const nextId = callIds();

/** Microseconds of CPU of this process per decision. */
async function cpuOf(store: RateLimitStore): Promise<number> {
  let begun = 0;
  const before = process.cpuUsage();
  const caller = async (): Promise<void> => {
    while (begun < DECISIONS) {
      const key = `{ip:203.0.113.${begun++ % KEYS}}:GET /bench`;
      await store.consume({ id: nextId(), charges: [{ key, limit: 1_000, windowMs: 10_000, cost: 1 }] });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / DECISIONS;
}

await cpuOf(bare);
await cpuOf(wrapped);
const costs: { bare: number; wrapped: number }[] = [];
for (let round = 0; round < rounds; round++) {
  // Whoever comes first in one round comes second in the next.
  const first = round % 2 === 0 ? await cpuOf(bare) : await cpuOf(wrapped);
  const second = round % 2 === 0 ? await cpuOf(wrapped) : await cpuOf(bare);
  costs.push(round % 2 === 0 ? { bare: first, wrapped: second } : { bare: second, wrapped: first });
}
await wrapped.close?.();
client.disconnect();
await server.stop();

const show = (name: string, values: readonly number[], digits: number): void => {
  const { mean, least, most } = meanWithInterval(values);
  console.log(`${name}: ${mean.toFixed(digits)} (95 %: ${least.toFixed(digits)} to ${most.toFixed(digits)})`);
};
console.log(
  `${rounds} rounds of ${DECISIONS} decisions, ${IN_FLIGHT} in flight, ${KEYS} keys, Node ${process.version}`,
);
show(
  'bare, µs of CPU per decision   ',
  costs.map((cost) => cost.bare),
  2,
);
show(
  'wrapped, µs of CPU per decision',
  costs.map((cost) => cost.wrapped),
  2,
);
show(
  'wrapped / bare                 ',
  costs.map((cost) => cost.wrapped / cost.bare),
  4,
);
