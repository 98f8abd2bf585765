import { expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { MemoryStore, RateLimit, type RefundRequest } from 'nestjs-floodgate';
import { startApp, PLATFORMS } from '../support/nest-app.ts';
import { rootModule } from '../support/limited-app.ts';

/** Refunds take their time; what happens is remembered. */
class SlowStore extends MemoryStore {
  readonly events: string[] = [];

  override async refund(request: RefundRequest): Promise<void> {
    this.events.push('refund begins');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await super.refund(request);
    this.events.push('refund ends');
  }

  async close(): Promise<void> {
    this.events.push('closed');
  }
}

@Controller()
class PageController {
  @RateLimit({ limit: 5, count: 'failed' })
  @Get('page')
  page() {}
}

it.each(PLATFORMS)('an application that closes waits for the refunds that are under way, on %s', async (platform) => {
  const store = new SlowStore();
  const options = { store, decisionTimeout: '5s' } as const;
  const app = await startApp(rootModule({ controllers: [PageController], options }), platform);
  await app.call('GET', '/page');
  await app.close();
  expect(store.events).toEqual(['refund begins', 'refund ends', 'closed']);
});
