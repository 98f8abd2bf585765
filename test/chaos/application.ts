import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import type { Server } from 'node:http';
import { RateLimit, RateLimitModule } from '../../src/index.ts';
import { answerQuestions } from '../support/child.ts';
import { LogLines } from '../support/log-lines.ts';
import { startApp, type Platform } from '../support/nest-app.ts';
import { usedHeapBytes } from '../support/used-heap.ts';
import { now } from './clock.ts';
import { ADDRESS_LIMIT, LARGE_LIMIT, SALE, type Report } from './routes.ts';
import { watchStolenTime } from './stolen-time.ts';

const { REDIS = '""', PLATFORM = 'express' } = process.env;

/** What a handler answers: the decision was made before. */
interface Served {
  readonly at: number;
}

const served = (): Served => ({ at: now() });

@Controller()
class ShopController {
  @RateLimit({ window: `${SALE.windowMs}ms`, limit: SALE.limit })
  @Get('sale')
  sale(): Served {
    return served();
  }

  @RateLimit({ window: 10, limit: ADDRESS_LIMIT, type: 'IP' })
  @Get('address')
  address(): Served {
    return served();
  }

  @RateLimit({ window: 10, limit: LARGE_LIMIT, onStoreError: 'allow' })
  @Get('allow')
  allow(): Served {
    return served();
  }

  @RateLimit({ window: 10, limit: LARGE_LIMIT, onStoreError: 'deny' })
  @Get('deny')
  deny(): Served {
    return served();
  }

  /** Without a limit: what it takes longer, the machine took. */
  @Get('plain')
  plain(): Served {
    return served();
  }
}

@Module({
  imports: [RateLimitModule.forRoot({ redis: JSON.parse(REDIS) as string | object })],
  controllers: [ShopController],
})
class AppModule {}

const thefts = watchStolenTime();
const faults: string[] = [];
process.on('unhandledRejection', (error) => faults.push(`unhandled rejection: ${String(error)}`));
process.on('uncaughtException', (error) => faults.push(`uncaught exception: ${String(error)}`));
const lines = new LogLines();
const startedAt = now();
const { url } = await startApp(AppModule, PLATFORM as Platform, {
  logger: lines,
  trustProxy: 'loopback',
  // A connection that closes when its next request is on the way would be a failure of nobody.
  configure: (app) => Object.assign(app.getHttpServer() as Server, { keepAliveTimeout: 60_000 }),
});
const startedInMs = now() - startedAt;

answerQuestions(async (): Promise<Report> => {
  return {
    url,
    startedInMs,
    storeLines: lines.matching(/The store/),
    faults,
    heapBytes: usedHeapBytes(),
    thefts,
  };
});
