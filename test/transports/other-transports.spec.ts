import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { RateLimit, RateLimitGuard } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';

@Controller()
class HybridController {
  @RateLimit({ limit: 1 }, { limit: 1, type: 'IP' })
  @Get('hybrid')
  get() {}
}

describe('a call over another transport', () => {
  const start = useApps();

  it.each(['rpc', 'ws', 'graphql'])('passes untouched: %s', async (type) => {
    const app = await start('express', { controllers: [HybridController] });
    const { value } = Object.getOwnPropertyDescriptor(HybridController.prototype, 'get')!;
    const context = new ExecutionContextHost([{}, {}], HybridController, value as () => void);
    context.setType(type);

    expect(await app.app.get(RateLimitGuard).canActivate(context)).toBe(true);
    expect(app.store.consumed).toEqual([]);
  });
});
