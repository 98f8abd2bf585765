import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { RateLimit } from '../../src/index.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';

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

describe('the codes of warnings', () => {
  it('stand in the README, all of them and no other', () => {
    const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    const codesIn = (text: string): readonly string[] => [...new Set(text.match(/FLOODGATE_[A-Z_]+/g))].sort();
    expect(codesIn(read('README.md'))).toEqual(codesIn(read('src/nest/warnings.ts')));
  });
});
