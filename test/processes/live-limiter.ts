import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RateLimit, RateLimiter, RateLimitModule, type RuleOverride } from '../../src/index.ts';
import { answerQuestions } from '../support/child.ts';

/** What a process is asked to do. */
export type Question =
  | { readonly what: 'load'; readonly forMs: number; readonly inFlight: number }
  | { readonly what: 'override'; readonly override: RuleOverride | null }
  | { readonly what: 'rule' };

/** What it did under load. */
export interface Load {
  /** The moments of its admissions by the clock of Redis, microseconds. */
  readonly admittedAt: readonly number[];
  readonly refused: number;
  readonly errors: readonly string[];
  /** What held when, by the clock of the machine: milliseconds. */
  readonly held: readonly Held[];
}

export interface Held {
  readonly limit: number;
  readonly windowMs: number;
  /** When this process was first seen to go by it. */
  readonly from: number;
}

const { REDIS_URL: redis, KEY_PREFIX: keyPrefix, LIMIT, WINDOW } = process.env;

@Controller()
class SaleController {
  @RateLimit({ name: 'sale', limit: LIMIT!, window: `${WINDOW}ms` as '1ms' })
  @Get('sale')
  sale() {}
}

@Module({
  // A busy test machine must not turn into failures of the store.
  imports: [
    RateLimitModule.forRoot({ redis, keyPrefix, liveRules: true, decisionTimeout: '10s', onStoreError: 'deny' }),
  ],
  controllers: [SaleController],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const limiter = app.get(RateLimiter);

async function load(forMs: number, inFlight: number): Promise<Load> {
  const admittedAt: number[] = [];
  const errors: string[] = [];
  const held: Held[] = [];
  let refused = 0;
  const endAt = Date.now() + forMs;
  const note = (): void => {
    const { limit, windowMs } = limiter.rules.get('sale');
    const last = held.at(-1);
    if (last?.limit === limit && last?.windowMs === windowMs) return;
    held.push({ limit: limit!, windowMs: windowMs!, from: Date.now() });
  };
  const caller = async (): Promise<void> => {
    while (Date.now() < endAt) {
      try {
        note();
        const decision = await limiter.consume('sale', '');
        if (decision.allowed) admittedAt.push(Number(decision.receipt!.split(':').at(-1)));
        else {
          refused++;
          // Remembered refusals would otherwise keep Redis from being asked.
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      } catch (error) {
        errors.push(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { admittedAt, refused, errors, held };
}

answerQuestions(async (question: Question): Promise<unknown> => {
  if (question.what === 'load') return load(question.forMs, question.inFlight);
  if (question.what === 'rule') return limiter.rules.get('sale');
  if (question.override) return limiter.rules.override('sale', question.override);
  return limiter.rules.clear('sale');
});
