import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Post, UseGuards } from '@nestjs/common';
import { Agent, request } from 'node:http';
import { RateLimit, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { emailOf, LocalAuthGuard, logIn } from '../support/log-ins.ts';
import { useApps, type LimitedApp } from '../support/limited-app.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

const LIMIT = 5;
const RIGHT_IN_A_ROW = 500;
/** What a test can open. */
const MOST_SOCKETS = 200;

@Controller()
class LogInController {
  @RateLimit(
    { window: '15m', limit: LIMIT, key: emailOf, count: 'failed' },
    { window: '15m', limit: 50, type: 'IP', count: 'failed' },
  )
  @UseGuards(LocalAuthGuard)
  @Post('login')
  logIn() {
    return { welcome: true };
  }
}

describe.each(PLATFORMS)('log-ins on %s', (platform) => {
  const redis = useRedis();
  const start = useApps();
  let agent: Agent;
  beforeEach(() => {
    agent = new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS });
    LocalAuthGuard.checked = 0;
  });
  afterEach(() => agent.destroy());

  /** The status of the answer; by the bare client, since there are many. */
  const attempt = ({ url }: LimitedApp, password: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(logIn(password).body);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request(`${url}/login`, { method: 'POST', agent, headers }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode!));
      });
      sent.once('error', reject).end(body);
    });

  // Nothing here is about answering in time, and the machine that runs the tests may be busy.
  describe.each<[string, number, RateLimitModuleOptions]>([
    ['in process', 2_000, {}],
    [
      'in Redis',
      10_000,
      { redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s', onStoreError: 'deny' },
    ],
  ])('%s', (_, wrongAtOnce, options) => {
    const controllers = [LogInController];

    it(`with ${wrongAtOnce} wrong passwords at once: exactly the limit is checked`, async () => {
      const app = await start(platform, { controllers, options });
      const attempts = Array.from({ length: wrongAtOnce }, () => attempt(app, 'wrong'));
      const statuses = await Promise.all(attempts);
      expect(LocalAuthGuard.checked).toBe(LIMIT);
      expect(statuses.filter((status) => status === 401)).toHaveLength(LIMIT);
      expect(statuses.filter((status) => status === 429)).toHaveLength(wrongAtOnce - LIMIT);
    }, 300_000);

    it(`with ${RIGHT_IN_A_ROW} right passwords one after another: all pass`, async () => {
      const app = await start(platform, { controllers, options });
      const statuses = new Set<number>();
      for (let i = 0; i < RIGHT_IN_A_ROW; i++) statuses.add(await attempt(app, 'right'));
      expect([...statuses]).toEqual([201]);
      expect(await attempt(app, 'wrong')).toBe(401);
    }, 300_000);
  });
});
