/** The process of one limiter. It is given its name in `LIMITER`, and Redis in `REDIS_URL`. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { answerQuestions } from '../../support/child.ts';
import type { LimiterName } from '../limiter-name.ts';
import { closedLoop, type LoopResult } from '../store/closed-loop.ts';
import type { FillQuestion, StoreQuestion } from '../store/questions.ts';
import { keyNumber, type Rule, type Workload } from '../store/workload.ts';
import type { Decide } from './limiter.ts';
import { LIMITERS } from './limiters.ts';

const FILL_IN_FLIGHT = 500;

const createLimiter = LIMITERS[process.env.LIMITER as LimiterName];
const redis = new Redis(process.env.REDIS_URL!);
await redis.ping();
const limiters = new Map<string, Promise<Decide>>();

/** One limiter for each rule, as an application has it. */
function limiterFor(rule: Rule): Promise<Decide> {
  const name = `${rule.limit}/${rule.windowMs}`;
  const limiter = limiters.get(name) ?? Promise.resolve(createLimiter(redis, rule));
  limiters.set(name, limiter);
  return limiter;
}

/** Made once: making a name takes longer than some decisions. */
function keysOf(prefix: string, workload: Workload): (decision: number) => string {
  const names: string[] = [];
  return (decision) => {
    const number = keyNumber(decision, workload);
    return (names[number] ??= `${prefix}:${number}`);
  };
}

async function refusesFromNowOn(decide: Decide, key: string, limit: number): Promise<void> {
  for (let i = 0; i < limit; i++) assert(await decide(key), `refused at ${i} of ${limit}`);
  assert(!(await decide(key)), `admitted beyond ${limit}`);
}

async function runLoop({ phase, workload, inFlight, forMs, cell }: StoreQuestion): Promise<LoopResult> {
  const decide = await limiterFor(workload.rule);
  const keyOf = keysOf(`user:${cell}${phase === 'prepare' ? 'w' : ''}`, workload);
  const result = await closedLoop({ decide, keyOf, inFlight, forMs });
  if (phase === 'prepare' && workload.expected === 'refused' && createLimiter !== LIMITERS['empty script']) {
    const measured = keysOf(`user:${cell}`, workload);
    for (let i = 0; i < workload.keys; i++) await refusesFromNowOn(decide, measured(i), workload.rule.limit);
  }
  return result;
}

async function fill({ rule, forMs }: FillQuestion): Promise<void> {
  const decide = await limiterFor(rule);
  const beginsAt = performance.now();
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun < rule.limit) {
      const number = begun++;
      const early = beginsAt + (number * forMs) / rule.limit - performance.now();
      if (early > 0) await wait(early);
      assert(await decide('user:1'), `refused at ${number} of ${rule.limit}`);
    }
  };
  await Promise.all(Array.from({ length: FILL_IN_FLIGHT }, caller));
}

answerQuestions(async (question: StoreQuestion | FillQuestion) => {
  if (question.phase === 'fill') {
    await fill(question);
    return 'filled';
  }
  return runLoop(question);
});
