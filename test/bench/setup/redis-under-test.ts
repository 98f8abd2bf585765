import { Redis } from 'ioredis';
import { startRedisServer } from '../../support/redis-server.ts';
import { pin } from './pinning.ts';
import { RedisMeter } from './redis-meter.ts';

/** The core of what is measured, and the one of all that serves it. */
export const MEASURED_CORE = 0;
export const SERVING_CORE = 1;

/** The Redis that all limiters of a run share, one at a time. */
export interface RedisUnderTest {
  readonly url: string;
  readonly version: string;
  readonly admin: Redis;
  readonly meter: RedisMeter;
  stop(): Promise<void>;
}

export async function startRedisUnderTest(): Promise<RedisUnderTest> {
  const server = await startRedisServer();
  pin(server.pid, SERVING_CORE);
  const admin = new Redis(server.url);
  const version = /redis_version:(\S+)/.exec(await admin.info('server'))?.[1] ?? 'unknown';
  return {
    url: server.url,
    version,
    admin,
    meter: new RedisMeter(admin),
    async stop() {
      admin.disconnect();
      await server.stop();
    },
  };
}
