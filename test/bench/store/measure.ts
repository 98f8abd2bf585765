import type { Redis } from 'ioredis';
import { startChild, type Child } from '../../support/child.ts';
import { CEILING, OURS, PEERS, type LimiterName } from '../limiter-name.ts';
import { peerModule } from '../setup/peers.ts';
import { pin } from '../setup/pinning.ts';
import type { RedisCost } from '../setup/redis-meter.ts';
import { MEASURED_CORE, type RedisUnderTest } from '../setup/redis-under-test.ts';
import { rotated } from '../setup/rounds.ts';
import type { StoreAnswer, StoreQuestion } from './questions.ts';
import { keysTouched, type Workload } from './workload.ts';
import { WORKLOADS } from './workloads.ts';

export const IN_FLIGHT = [1, 50, 500] as const;
const LIMITERS = [CEILING, OURS, ...PEERS] as const;

/** One limiter on one workload in one round. */
export interface StoreCell {
  readonly round: number;
  readonly limiter: LimiterName;
  readonly workload: string;
  readonly inFlight: number;
  readonly client: StoreAnswer;
  readonly redis: RedisCost;
}

export interface StoreEffort {
  readonly rounds: number;
  readonly measureMs: number;
  /** Before anything counts, for each measurement. */
  readonly compilingMs: number;
}

export const startLimiter = async (name: LimiterName, redisUrl: string): Promise<Child> => {
  const child = await startChild(peerModule('limiter-process'), { LIMITER: name, REDIS_URL: redisUrl });
  pin(child.pid, MEASURED_CORE);
  return child;
};

/**
 * Every limiter in a process of its own, one of them at work at any time. In a round each has its turn at a workload
 * before the next workload begins, so that what disturbs the machine for seconds disturbs all of them alike.
 */
export async function measureStores(
  redis: RedisUnderTest,
  effort: StoreEffort,
  onRound: (round: number) => void,
): Promise<readonly StoreCell[]> {
  const children = new Map<LimiterName, Child>();
  try {
    for (const name of LIMITERS) children.set(name, await startLimiter(name, redis.url));
    const cells: StoreCell[] = [];
    let cellsBegun = 0;
    const measured = (limiter: LimiterName, workload: Workload, inFlight: number, forMs: number) =>
      measureCell(children.get(limiter)!, limiter, redis, { workload, inFlight, cell: cellsBegun++ }, forMs);
    // Round 0 is thrown away: code is compiled in it.
    for (let round = 0; round <= effort.rounds; round++) {
      onRound(round);
      for (const workload of WORKLOADS) {
        for (const inFlight of IN_FLIGHT) {
          for (const limiter of rotated(LIMITERS, round)) {
            const figures = await measured(
              limiter,
              workload,
              inFlight,
              round === 0 ? effort.compilingMs : effort.measureMs,
            );
            if (round > 0) cells.push({ round, limiter, workload: workload.name, inFlight, ...figures });
          }
        }
      }
    }
    return cells;
  } finally {
    await Promise.all([...children.values()].map((child) => child.stop()));
  }
}

/** But no epoch: a flush is a loss of data, after which Floodgate counts by itself what was lost, and that is other work. */
async function removeLogs(admin: Redis): Promise<void> {
  for await (const keys of admin.scanStream({ count: 10_000 }) as AsyncIterable<string[]>) {
    const logs = keys.filter((key) => !key.endsWith(':epoch'));
    if (logs.length > 0) await admin.unlink(logs);
  }
}

async function measureCell(
  child: Child,
  limiter: LimiterName,
  { admin, meter }: RedisUnderTest,
  cell: Pick<StoreQuestion, 'workload' | 'inFlight' | 'cell'>,
  forMs: number,
): Promise<Pick<StoreCell, 'client' | 'redis'>> {
  await removeLogs(admin);
  const ask = (phase: StoreQuestion['phase'], ms: number): Promise<StoreAnswer> =>
    child.ask<StoreAnswer>({ ...cell, phase, forMs: ms } satisfies StoreQuestion);
  await ask('prepare', forMs / 4);
  const keysBefore = await admin.dbsize();
  await meter.start();
  const client = await ask('measure', forMs);
  const redis = await meter.stop(client.decisions);
  const fault = limiter === CEILING ? undefined : faultOf(client, cell.workload, (await admin.dbsize()) - keysBefore);
  if (fault !== undefined) {
    throw new Error(`${limiter}, ${cell.workload.name}, ${cell.inFlight} in flight: ${fault}`);
  }
  return { client, redis };
}

/** What a limiter did that was not its task. */
function faultOf({ decisions, admitted }: StoreAnswer, workload: Workload, newKeys: number): string | undefined {
  const due = workload.expected === 'admitted' ? decisions : 0;
  if (admitted !== due) return `admitted ${admitted} of ${decisions}, not ${due}`;
  const keysDue = workload.expected === 'admitted' ? keysTouched(decisions, workload) : 0;
  if (newKeys < keysDue) return `left ${newKeys} keys in Redis after decisions on ${keysDue}`;
  return undefined;
}
