/** The application of the soak, in a process of its own: what is measured of it is its own. */
import 'reflect-metadata';
import { Controller, Get, Module, type ExecutionContext } from '@nestjs/common';
import { RateLimit, RateLimitModule } from '../../../src/index.ts';
import { answerQuestions } from '../../support/child.ts';
import { startApp } from '../../support/nest-app.ts';
import { usedHeapBytes } from '../../support/used-heap.ts';

/** What it answers to any question. */
export interface SoakState {
  readonly url: string;
  /** After a garbage collection. */
  readonly heapBytes: number;
  /** Types of what keeps the process alive. */
  readonly resources: readonly string[];
}

const clientOf = (context: ExecutionContext): string | undefined =>
  context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>().headers['x-client'];

@Controller()
class VisitedController {
  @RateLimit({ window: '5s', limit: 1, key: clientOf })
  @Get('visit')
  visit(): string {
    return 'seen';
  }
}

@Module({
  // A decision without Redis would show as a 503. Other programs may stop this process for longer than 100 ms.
  imports: [RateLimitModule.forRoot({ redis: process.env.REDIS_URL!, decisionTimeout: '5s', onStoreError: 'deny' })],
  controllers: [VisitedController],
})
class AppModule {}

const { url } = await startApp(AppModule, 'fastify');

answerQuestions((): Promise<SoakState> =>
  Promise.resolve({
    url: `${url}/visit`,
    heapBytes: usedHeapBytes(),
    resources: process.getActiveResourcesInfo(),
  }),
);
