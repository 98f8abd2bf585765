import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type ExecutionContext } from '@nestjs/common';
import { readdirSync, readFileSync } from 'node:fs';
import { RateLimit, type RateLimitOptions } from '../../src/index.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { useRedis } from '../support/redis.ts';

@Controller()
class WarnedController {
  @RateLimit({ type: 'IP', limit: 1_000 })
  @Get('ip')
  ip(): string {
    return 'ok';
  }

  @RateLimit({ type: 'USER', limit: 1_000 })
  @Get('user')
  user(): string {
    return 'ok';
  }
}

const startApp = useApps();
const forwarded = { headers: { 'x-forwarded-for': '203.0.113.7' } };

describe.each(PLATFORMS)('a known mistake is told once with its code, on %s', (platform) => {
  const controllers = [WarnedController];

  it('a forwarding header where no proxy is trusted', async () => {
    const logger = new LogLines();
    const app = await startApp(platform, { controllers, logger });
    await app.get('/ip');
    expect(logger.matching(/FLOODGATE_UNTRUSTED_PROXY/)).toHaveLength(0);
    for (let i = 0; i < 3; i++) await app.get('/ip', forwarded);
    expect(logger.matching(/FLOODGATE_UNTRUSTED_PROXY/)).toHaveLength(1);
  });

  it('no forwarding header where a proxy is trusted', async () => {
    const logger = new LogLines();
    const app = await startApp(platform, { controllers, logger, trustProxy: true });
    await app.get('/ip', forwarded);
    expect(logger.matching(/FLOODGATE_/)).toHaveLength(0);
  });

  it('a USER rule that finds no user in a hundred requests', async () => {
    const logger = new LogLines();
    const app = await startApp(platform, { controllers, logger });
    await app.statuses(99, '/user');
    expect(logger.matching(/FLOODGATE_NO_USER/)).toHaveLength(0);
    await app.statuses(101, '/user');
    expect(logger.matching(/FLOODGATE_NO_USER.*WarnedController\.user/)).toHaveLength(1);
  });

  it('no USER rule that found one before', async () => {
    const logger = new LogLines();
    const app = await startApp(platform, {
      controllers,
      logger,
      options: {
        identity: { user: (context) => context.switchToHttp().getRequest<{ query: { user?: string } }>().query.user },
      },
    });
    await app.get('/user?user=a');
    await app.statuses(120, '/user');
    expect(logger.matching(/FLOODGATE_/)).toHaveLength(0);
  });
});

const requestOf = (context: ExecutionContext): { query: Readonly<Record<string, string>> } =>
  context.switchToHttp().getRequest();
const queryNumber =
  (name: string) =>
  (context: ExecutionContext): number =>
    Number(requestOf(context).query[name]);

@Controller()
class ChangingController {
  @RateLimit({ limit: queryNumber('limit') })
  @Get('limit')
  limit(): string {
    return 'ok';
  }

  @RateLimit({ window: queryNumber('window'), limit: 1_000 })
  @Get('window')
  window(): string {
    return 'ok';
  }
}

describe('a rule whose function', () => {
  const requests = async (path: (i: number) => string): Promise<readonly string[]> => {
    const logger = new LogLines();
    const app = await startApp('express', { controllers: [ChangingController], logger });
    for (let i = 1; i <= 220; i++) await app.get(path(i));
    return logger.matching(/FLOODGATE_/);
  };

  it.each([
    ['limit', (i: number) => `/limit?limit=${1_000 + i}`, 'ChangingController.limit'],
    ['window', (i: number) => `/window?window=${10 + i}`, 'ChangingController.window'],
  ])('gives another %s on each of a hundred requests is warned of, once', async (_, path, where) => {
    expect(await requests(path)).toEqual([expect.stringMatching(`FLOODGATE_CHANGING_RULE.*${where}`)]);
  });

  it('gives a few values by turns is not warned of', async () => {
    expect(await requests((i) => `/limit?limit=${[1_000, 2_000, 3_000][i % 3]}`)).toEqual([]);
  });

  it('gave one value twice, and others after it, is not warned of', async () => {
    expect(await requests((i) => `/limit?limit=${i < 3 ? 1_000 : 1_000 + i}`)).toEqual([]);
  });
});

describe('a limit that lets each client fill a large log', () => {
  const warningsOf = async (...rules: RateLimitOptions[]): Promise<readonly string[]> => {
    const logger = new LogLines();
    await startApp('express', { controllers: [ChangingController], logger, options: { rules } });
    return logger.matching(/FLOODGATE_LARGE/);
  };

  it.each<RateLimitOptions>([
    { limit: 1_001, type: 'IP', exact: true },
    { limit: 10_000, type: 'USER', exact: true },
    { limit: 2_000, key: () => 'x', exact: true },
  ])('is warned of: %j', async (rule) => {
    expect(await warningsOf(rule)).toEqual([expect.stringMatching(/forRoot rules\[0\] \(\d+-per-10s\)/)]);
  });

  it('is warned of in one line for all rules', async () => {
    const [line, ...others] = await warningsOf(
      { limit: 5_000, type: 'IP', exact: true },
      { limit: 4_000, type: 'USER', exact: true },
    );
    expect(others).toEqual([]);
    expect(line).toMatch(/rules\[0\].*rules\[1\]/);
  });

  it.each<RateLimitOptions>([
    { limit: 10_000, exact: true },
    { limit: 1_000, type: 'IP', exact: true },
    { limit: () => 10_000, type: 'IP', exact: true },
    { limit: 1_000_000, type: 'IP' },
  ])('is not warned of: %j', async (rule) => {
    expect(await warningsOf(rule)).toEqual([]);
  });
});

describe('limits that are switched off', () => {
  it('are warned of', async () => {
    const logger = new LogLines();
    await startApp('express', { logger, options: { enabled: false } });
    expect(logger.matching(/FLOODGATE_/)).toEqual([expect.stringMatching(/FLOODGATE_DISABLED/)]);
  });
});

describe('what the store warns of', () => {
  const { client, keyPrefix } = useRedis();

  it('stands in the log with its code, once', async () => {
    const logger = new LogLines();
    await startApp('express', { logger, options: { redis: client, keyPrefix } });
    expect(logger.matching(/FLOODGATE_/)).toEqual([
      expect.stringMatching(/^warn: \[FLOODGATE_CLIENT_OPTIONS\] .*enableOfflineQueue/),
    ]);
  });
});

describe('the codes of warnings', () => {
  it('stand in the README, all of them and no other', () => {
    const root = new URL('../../', import.meta.url);
    const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
    const sources = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' });
    const source = sources.flatMap((file) => (file.endsWith('.ts') ? read(`src/${file}`) : [])).join('\n');
    const codesIn = (text: string): readonly string[] => [...new Set(text.match(/FLOODGATE_[A-Z_]+/g))].sort();
    expect(codesIn(read('README.md'))).toEqual(codesIn(source));
  });
});
