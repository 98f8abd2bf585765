import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Type } from '@nestjs/common';
import { call, PLATFORMS, startApp, type Answer, type TestApp } from '../support/nest-app.ts';
import { freePort, startRedisServer, type RedisServer } from '../support/redis-server.ts';

const ORDER = '/voucher-order/seckill/7';
const TEN_OF_TWELVE = [...Array<number>(10).fill(201), 429, 429];

describe.each(PLATFORMS)('The quick start on %s', (platform) => {
  let AppModule: Type;
  let app: TestApp;
  const order = (): Promise<Answer> => app.call('POST', ORDER);

  beforeAll(async () => {
    delete process.env.REDIS_URL;
    ({ AppModule } = await import('../../examples/quick-start/app.module.ts'));
  });
  beforeEach(async () => {
    app = await startApp(AppModule, platform);
  });
  afterEach(() => app.close());

  it('admits exactly 10 of 12 orders that come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, order));

    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual(TEN_OF_TWELVE);
  });

  it("answers a refusal in the application's own envelope, and says when to come back", async () => {
    for (let i = 0; i < 10; i++) await order();

    const refused = await order();

    expect(refused.status).toBe(429);
    expect(refused.json).toEqual({ success: false, errorMsg: '秒杀活动太火爆，请稍后再试' });
    expect(refused.headers.get('retry-after')).toMatch(/^([1-9]|10)$/);
  });
});

describe('The quick start as processes', () => {
  let redis: RedisServer;
  const processes: ChildProcess[] = [];

  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(async () => {
    for (const child of processes) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await redis.stop();
  });

  async function startProcess(): Promise<{ url: string; child: ChildProcess }> {
    const port = await freePort();
    const child = spawn(
      process.execPath,
      ['--import', '@swc-node/register/esm-register', 'examples/quick-start/main.ts'],
      { env: { ...process.env, NODE_OPTIONS: '', PORT: String(port), REDIS_URL: redis.url }, stdio: 'ignore' },
    );
    processes.push(child);
    const url = `http://127.0.0.1:${port}`;
    while (!(await call(url, 'GET').catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error(`the quick start ended with ${child.exitCode}`);
      await sleep(20);
    }
    return { url, child };
  }

  it('share one limit through REDIS_URL, and end when they are told to', async () => {
    const [first, second] = await Promise.all([startProcess(), startProcess()]);

    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) {
      const { url } = i % 2 ? first : second;
      statuses.push((await call(url + ORDER, 'POST')).status);
    }

    expect(statuses).toEqual(TEN_OF_TWELVE);

    for (const { child } of [first, second]) {
      child.kill('SIGTERM');
      await once(child, 'exit');
      expect(child.signalCode).toBe('SIGTERM');
    }
  }, 30_000);
});
