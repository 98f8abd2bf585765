import { setTimeout as wait } from 'node:timers/promises';
import { startChild, type Child } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import type { Platform } from '../support/nest-app.ts';
import { now } from './clock.ts';
import type { Load, LoadOrder, Visit } from './load.ts';
import type { Report } from './routes.ts';
import type { Scenario, Site } from './scenario.ts';
import { stolenBetween, type Theft } from './stolen-time.ts';

/** What came of a scenario. */
export interface Outcome {
  readonly scenario: Scenario;
  readonly visits: readonly JudgedVisit[];
  readonly beganAt: number;
  readonly endedAt: number;
  /** From the end of the cause to the first entry in the log of the sale; Infinity when none came. */
  readonly recoveredInMs: number;
  readonly report: Report;
}

export interface JudgedVisit extends Visit {
  readonly tookMs: number;
  /**
   * What it would have taken without any limit: what the machine took from the application and from the client, or the
   * longest that a call without a limit took at that time, if that is more.
   */
  readonly controlMs: number;
}

interface TrialOptions {
  readonly platform?: Platform;
  readonly length?: keyof Scenario['lastsMs'];
}

const HEALTHY_MS = { briefly: 1_500, fully: 5_000 };
const AFTER_MS = { briefly: 1_500, fully: 5_000 };
const CONTROL_PATH = '/plain';
const LOAD = {
  connections: 50,
  callsPerSecond: 240,
  together: 5,
  paths: ['/sale', '/sale', '/address', '/allow', '/deny', CONTROL_PATH],
} as const;
/** Far more than it may take, so that a slow recovery is measured. */
const RECOVERY_PATIENCE_MS = 15_000;
const LINE_PATIENCE_MS = 5_000;

/** Plays a scenario with an application and its visitors, each in a process of its own. */
export async function tryOut(scenario: Scenario, options: TrialOptions = {}): Promise<Outcome> {
  const site = await scenario.site();
  const children: Child[] = [];
  try {
    return await play(scenario, site, children, options);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await site.stop();
  }
}

async function play(
  scenario: Scenario,
  site: Site,
  children: Child[],
  { platform = 'express', length = 'briefly' }: TrialOptions,
): Promise<Outcome> {
  let beganAt = now();
  if (scenario.isAtStart) await scenario.begin(site);
  const visitors = await startChild(new URL('load.ts', import.meta.url));
  children.push(visitors);
  const application = await startApplication(site.redis, platform);
  children.push(application);
  const report = (): Promise<Report> => application.ask<Report>('report');
  const { url } = await report();
  await begin(visitors, { url, ...LOAD });
  if (!scenario.isAtStart) {
    await wait(HEALTHY_MS[length]);
    beganAt = now();
    await scenario.begin(site);
  }
  await wait(scenario.lastsMs[length]);
  await scenario.end(site);
  const endedAt = now();
  const recoveredAt = await firstEntryAfter(site, endedAt);
  await wait(AFTER_MS[length]);
  if (scenario.expected.outage !== 'never') await toldOfRecovery(report);
  const { visits, thefts } = await end(visitors);
  const last = await report();
  return {
    scenario,
    visits: judged(visits, [...thefts, ...last.thefts]),
    beganAt,
    endedAt,
    recoveredInMs: recoveredAt - endedAt,
    report: last,
  };
}

export const startApplication = (redis: Site['redis'], platform: Platform): Promise<Child> =>
  startChild(new URL('application.ts', import.meta.url), { REDIS: JSON.stringify(redis), PLATFORM: platform });

export const begin = (visitors: Child, order: LoadOrder): Promise<unknown> => visitors.ask({ order });
export const end = (visitors: Child): Promise<Load> => visitors.ask<Load>({});

function judged(visits: readonly Visit[], thefts: readonly Theft[]): readonly JudgedVisit[] {
  const controls = visits.filter(({ path, status }) => path === CONTROL_PATH && status === 200);
  return visits.map((visit) => {
    const { startedAt, endedAt } = visit;
    const meanwhile = controls.filter((control) => control.startedAt < endedAt && control.endedAt > startedAt);
    const longest = meanwhile.reduce((most, control) => Math.max(most, control.endedAt - control.startedAt), 0);
    return {
      ...visit,
      tookMs: endedAt - startedAt,
      controlMs: Math.max(stolenBetween(thefts, startedAt, endedAt), longest),
    };
  });
}

/** By the clock of Redis, which is that of this machine. */
async function firstEntryAfter(site: Site, moment: number): Promise<number> {
  let entryAt: number | undefined;
  const isThere = async (): Promise<boolean> => (entryAt = await site.entryAfter(moment)) !== undefined;
  return eventually(isThere, RECOVERY_PATIENCE_MS).then(
    () => entryAt!,
    () => Infinity,
  );
}

/** Where nothing is told, or not in time, the verdict says so. */
async function toldOfRecovery(report: () => Promise<Report>): Promise<void> {
  const isTold = async (): Promise<boolean> => !(await report()).storeLines.at(-1)?.startsWith('error');
  await eventually(isTold, LINE_PATIENCE_MS).catch(() => undefined);
}
