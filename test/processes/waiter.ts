import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RateLimiter, RateLimitModule } from '../../src/index.ts';
import { answerQuestions } from '../support/child.ts';

export interface WaitingWork {
  readonly calls: number;
  readonly limit: number;
  readonly window: string;
  /** When all processes begin, by the shared clock of the machine. */
  readonly startAt: number;
}

export interface WaitingOutcome {
  /** The numbers of the calls in the order in which they were admitted. */
  readonly order: readonly number[];
  /** The moments of the admissions by the clock of Redis, microseconds. */
  readonly admittedAt: readonly number[];
  readonly others: readonly string[];
}

const { REDIS_URL: redis, KEY_PREFIX: keyPrefix } = process.env;

@Module({
  // A busy test machine must not turn into failures of the store.
  imports: [RateLimitModule.forRoot({ redis, keyPrefix, decisionTimeout: '10s', onStoreError: 'deny' })],
})
class WaiterModule {}

const application = await NestFactory.createApplicationContext(WaiterModule, { logger: false });
const limiter = application.get(RateLimiter);

answerQuestions(async ({ calls, limit, window, startAt }: WaitingWork): Promise<WaitingOutcome> => {
  const order: number[] = [];
  const admittedAt: number[] = [];
  const others: string[] = [];
  const rule = { name: 'upstream', window, limit };
  await new Promise((resolve) => setTimeout(resolve, startAt - Date.now()));
  const wait = async (call: number): Promise<void> => {
    try {
      const decision = await limiter.acquire(rule, 'all');
      if (!decision.allowed) return void others.push('denied');
      order.push(call);
      admittedAt.push(Number(decision.receipt!.split(':').at(-1)));
    } catch (error) {
      others.push(String(error));
    }
  };
  await Promise.all(Array.from({ length: calls }, (_, call) => wait(call)));
  return { order, admittedAt, others };
});
