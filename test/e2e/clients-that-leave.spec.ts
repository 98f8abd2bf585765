import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, HttpCode, Module, Post, UseGuards, type CanActivate } from '@nestjs/common';
import { once } from 'node:events';
import { connect } from 'node:net';
import { RateLimit, RateLimitModule } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { PLATFORMS, startApp, type TestApp } from '../support/nest-app.ts';

const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

class SlowGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await soon(5);
    return true;
  }
}

let served: string[] = [];

@Controller()
class LoginController {
  @RateLimit({ type: 'IP', limit: 1, window: 60 })
  @HttpCode(200)
  @Post('address')
  address(): void {
    served.push('address');
  }

  @RateLimit({ type: 'IP', limit: 1, window: 60 }, { key: () => soon(5).then(() => 'k'), limit: 1_000 })
  @Post('slow-key')
  slowKey(): void {
    served.push('slow-key');
  }

  @RateLimit({ type: 'USER', limit: 1, window: 60 })
  @UseGuards(SlowGuard)
  @Post('stranger')
  stranger(): void {
    served.push('stranger');
  }
}

@Module({ imports: [RateLimitModule.forRoot()], controllers: [LoginController] })
class AppModule {}

describe.each(PLATFORMS)('a client that is gone before its request is judged, on %s', (platform) => {
  let app: TestApp;
  afterEach(() => app.close());

  /** Sends a whole request, and ends its connection at once: by a reset, after which no address can be asked for. */
  const sendAndReset = async (path: string): Promise<void> => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const request = `POST /${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}`;
    socket.write(request, () => socket.resetAndDestroy());
    await once(socket, 'close');
  };

  it.each(['address', 'slow-key', 'stranger'])('cannot get past its limit: %s', async (path) => {
    served = [];
    app = await startApp(AppModule, platform);
    for (let i = 0; i < 30; i++) await sendAndReset(path);
    // They were told apart by their address: one was served, and whoever stays is refused.
    await eventually(async () => served.length === 1);
    expect((await app.call('POST', `/${path}`, { body: {} })).status).toBe(429);
    expect(served).toHaveLength(1);
  });
});
