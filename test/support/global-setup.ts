import { existsSync } from 'node:fs';
import { startRedisContainer } from './redis-container.ts';
import { redisServerBinary, startRedisServer } from './redis-server.ts';

declare global {
  var stopRedisOfTheRun: (() => Promise<unknown>) | undefined;
}

/** One Redis for the run: TEST_REDIS_URL, or a container where a Docker engine answers, or a redis-server here. */
export default async function globalSetup(): Promise<void> {
  // Some tests stop and start a server of their own, whatever serves the others.
  redisServerBinary();
  if (process.env.TEST_REDIS_URL) return;
  process.env.TEST_REDIS_URL = (await fromContainer()) ?? (await fromBinary());
}

async function fromContainer(): Promise<string | undefined> {
  if (!process.env.DOCKER_HOST && !existsSync('/var/run/docker.sock')) return undefined;
  try {
    const container = await startRedisContainer('redis:7.4-alpine');
    globalThis.stopRedisOfTheRun = () => container.stop();
    return container.url;
  } catch {
    return undefined;
  }
}

async function fromBinary(): Promise<string> {
  const server = await startRedisServer();
  globalThis.stopRedisOfTheRun = () => server.stop();
  return server.url;
}
