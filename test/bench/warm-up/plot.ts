/**
 * Draws the effective limit of a rule with a warm-up, as the store on Redis admits it and as the published formula has it.
 * The script gives the time, so it takes some seconds and always comes to the same.
 * Usage: npm run plot:warm-up. Writes test/bench/charts/warm-up.svg, which the README shows.
 */
import { writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { RedisStore } from '../../../src/redis/redis-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { warmUpChart } from '../charts/warm-up-chart.ts';
import { measure } from './measure.ts';

const server = await startRedisServer();
const client = new Redis(server.url);
try {
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? 'unknown';
  const clock = new ManualClock();
  const found = await measure(new RedisStore(client, { keyPrefix: 'plot', now: clock.now }), clock);
  writeFileSync(new URL('../charts/warm-up.svg', import.meta.url), warmUpChart(found, `Redis ${version}`));
} finally {
  client.disconnect();
  await server.stop();
}
