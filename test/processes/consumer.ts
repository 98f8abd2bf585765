import { callIds } from '../../src/core/call-id.ts';
import type { Charge } from '../../src/core/charge.ts';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { answerQuestions } from '../support/child.ts';

export interface Work {
  readonly charge: Charge;
  readonly calls: number;
  readonly inFlight: number;
  /** When all processes begin, by the shared clock of the machine. */
  readonly startAt: number;
  /** Go on beginning calls for so long, however many there are. */
  readonly forMs?: number;
}

export interface Outcome {
  /** The moments of the admissions by the clock of Redis, microseconds. */
  readonly admittedAt: readonly number[];
  readonly refused: number;
  readonly errors: readonly string[];
}

const { REDIS_URL: redis, KEY_PREFIX: keyPrefix, DATE_SHIFT_MS = '0' } = process.env;
const realNow = Date.now;
Date.now = () => realNow() + Number(DATE_SHIFT_MS);

const store = await createRateLimitStore({ redis, keyPrefix, decisionTimeout: '10s', onStoreError: 'deny' });
const nextId = callIds();

answerQuestions(async ({ charge, calls, inFlight, startAt, forMs = 0 }: Work): Promise<Outcome> => {
  const admittedAt: number[] = [];
  const errors: string[] = [];
  let refused = 0;
  let begun = 0;
  const endAt = startAt + forMs;
  await new Promise((resolve) => setTimeout(resolve, startAt - realNow()));
  const caller = async (): Promise<void> => {
    while (begun < calls || realNow() < endAt) {
      begun++;
      try {
        const decision = await store.consume({ id: nextId(), charges: [charge] });
        if (decision.allowed) admittedAt.push(Number(decision.receipt!.split(':').at(-1)));
        else refused++;
      } catch (error) {
        errors.push(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { admittedAt, refused, errors };
});
