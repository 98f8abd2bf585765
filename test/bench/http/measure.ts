import { startChild, type Child } from '../../support/child.ts';
import { pin } from '../setup/pinning.ts';
import { peerModule } from '../setup/peers.ts';
import type { RedisCost } from '../setup/redis-meter.ts';
import { MEASURED_CORE, SERVING_CORE, type RedisUnderTest } from '../setup/redis-under-test.ts';
import { rotated } from '../setup/rounds.ts';
import {
  APPLICATIONS,
  type ApplicationName,
  type ApplicationOrder,
  type ApplicationState,
  type Platform,
  type Traffic,
} from './application.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { RULE_FOR } from './rules.ts';

export interface HttpEffort {
  readonly platforms: readonly Platform[];
  readonly rounds: number;
  readonly measureMs: number;
  /** For each application, before anything counts. */
  readonly compilingMs: number;
}

/** One application under one kind of traffic in one round. */
export interface HttpCell {
  readonly round: number;
  readonly platform: Platform;
  readonly traffic: Traffic;
  readonly application: ApplicationName;
  readonly load: LoadResult;
  readonly cpuUsPerRequest: number;
  readonly redis: RedisCost;
}

export const TRAFFICS: readonly Traffic[] = ['admitted', 'refused'];

/** The applications that a platform has. */
const applicationsOn = (platform: Platform): readonly ApplicationName[] =>
  (Object.keys(APPLICATIONS) as ApplicationName[]).filter((name) =>
    (APPLICATIONS[name].on as readonly Platform[]).includes(platform),
  );

/** Each application in a process of its own, the load in another, Redis in a third; interleaved as the stores are. */
export async function measureHttp(
  redis: RedisUnderTest,
  effort: HttpEffort,
  onGroup: (platform: Platform, traffic: Traffic) => void,
): Promise<readonly HttpCell[]> {
  const loader = await startChild(new URL('load.ts', import.meta.url));
  pin(loader.pid, SERVING_CORE);
  try {
    const cells: HttpCell[] = [];
    for (const platform of effort.platforms) {
      for (const traffic of TRAFFICS) {
        onGroup(platform, traffic);
        await redis.admin.flushall();
        cells.push(...(await measureGroup(platform, traffic, { loader, redis, effort })));
      }
    }
    return cells;
  } finally {
    await loader.stop();
  }
}

interface Surroundings {
  readonly loader: Child;
  readonly redis: RedisUnderTest;
  readonly effort: HttpEffort;
}

async function measureGroup(platform: Platform, traffic: Traffic, around: Surroundings): Promise<readonly HttpCell[]> {
  const { redis, effort } = around;
  const names = applicationsOn(platform);
  const children = new Map<ApplicationName, Child>();
  try {
    const starts = names.map(async (name) => {
      const order = { name, platform, redisUrl: redis.url, rule: RULE_FOR[traffic], sharedRule: RULE_FOR.admitted };
      children.set(name, await startApplication(order));
    });
    // All of them, so that those that did start are stopped.
    const failed = (await Promise.allSettled(starts)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    for (const child of children.values()) {
      const { url } = await child.ask<ApplicationState>('state');
      await around.loader.ask<LoadResult>({ url, forMs: effort.compilingMs } satisfies LoadOrder);
    }
    const cells: HttpCell[] = [];
    for (let round = 1; round <= effort.rounds; round++) {
      for (const application of rotated(names, round)) {
        const figures = await measureCell(children.get(application)!, around);
        const cell = { round, platform, traffic, application, ...figures };
        assertWorkDone(cell);
        cells.push(cell);
      }
    }
    return cells;
  } finally {
    await Promise.all([...children.values()].map((child) => child.stop()));
  }
}

async function startApplication(order: ApplicationOrder): Promise<Child> {
  const child = await startChild(peerModule('application-process'), { APPLICATION: JSON.stringify(order) });
  pin(child.pid, MEASURED_CORE);
  return child;
}

async function measureCell(
  child: Child,
  { loader, redis, effort }: Surroundings,
): Promise<Pick<HttpCell, 'load' | 'cpuUsPerRequest' | 'redis'>> {
  const before = await child.ask<ApplicationState>('state');
  await redis.meter.start();
  const load = await loader.ask<LoadResult>({ url: before.url, forMs: effort.measureMs } satisfies LoadOrder);
  const spent = await redis.meter.stop(load.requests);
  const after = await child.ask<ApplicationState>('state');
  return { load, cpuUsPerRequest: (after.cpuUs - before.cpuUs) / load.requests, redis: spent };
}

/** @throws Error for an application that limited what it should not, or did not limit what it should */
function assertWorkDone({ platform, traffic, application, load, redis }: HttpCell): void {
  const isLimited = APPLICATIONS[application].baseline !== application;
  const due = isLimited && traffic === 'refused' ? 429 : 200;
  const { [due]: right = 0, ...others } = load.statuses;
  const asked = !isLimited || traffic === 'refused' || redis.scriptCalls > 0;
  if (right === load.requests && asked) return;
  const seen = asked ? `answered ${JSON.stringify(others)} beside ${right} times ${due}` : 'never asked Redis';
  throw new Error(`${application} on ${platform}, ${traffic}: ${seen}`);
}
