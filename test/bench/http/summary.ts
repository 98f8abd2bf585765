import { median, quartiles } from '../statistics.ts';
import { APPLICATIONS, type ApplicationName, type Platform, type Traffic } from './application.ts';
import type { HttpCell } from './measure.ts';

/** An application under one kind of traffic, over all rounds: medians, those of ratios among them. */
export interface HttpSummary {
  readonly platform: Platform;
  readonly traffic: Traffic;
  readonly application: ApplicationName;
  readonly perSecond: number;
  /** Requests per second against those of the same application without a limiter, in the same round. */
  readonly ratio: number;
  readonly ratioQuartiles: readonly [number, number];
  /** The same by CPU time for each request: 0.5 is twice the time. */
  readonly cpuRatio: number;
  readonly cpuUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly redisCpuUs: number;
}

export function summarizeHttp(cells: readonly HttpCell[]): readonly HttpSummary[] {
  const first = cells.filter(({ round }) => round === 1);
  return first.map(({ platform, traffic, application }) => {
    const group = cells.filter((cell) => cell.platform === platform && cell.traffic === traffic);
    const same = group.filter((cell) => cell.application === application);
    const { baseline } = APPLICATIONS[application];
    const bareOf = ({ round }: HttpCell): HttpCell =>
      group.find((cell) => cell.application === baseline && cell.round === round)!;
    const of = (figure: (cell: HttpCell) => number): number => median(same.map(figure));
    const ratios = same.map((cell) => cell.load.perSecond / bareOf(cell).load.perSecond);
    return {
      platform,
      traffic,
      application,
      perSecond: of((cell) => cell.load.perSecond),
      ratio: median(ratios),
      ratioQuartiles: quartiles(ratios),
      cpuRatio: of((cell) => bareOf(cell).cpuUsPerRequest / cell.cpuUsPerRequest),
      cpuUs: of((cell) => cell.cpuUsPerRequest),
      p50Us: of((cell) => cell.load.p50Us),
      p99Us: of((cell) => cell.load.p99Us),
      redisCpuUs: of((cell) => cell.redis.cpuUs),
    };
  });
}
