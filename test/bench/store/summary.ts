import { CEILING, type LimiterName } from '../limiter-name.ts';
import { median, quartiles } from '../statistics.ts';
import type { StoreCell } from './measure.ts';

/** A limiter on one workload, over all rounds: medians, those of ratios among them. */
export interface StoreSummary {
  readonly workload: string;
  readonly inFlight: number;
  readonly limiter: LimiterName;
  readonly perSecond: number;
  /** Decisions per second against those of the empty script in the same round. */
  readonly ratio: number;
  readonly ratioQuartiles: readonly [number, number];
  readonly p50Us: number;
  readonly p99Us: number;
  /** Over that of the empty script in the same round. */
  readonly p50OverCeilingUs: number;
  readonly clientCpuUs: number;
  /** CPU time of the empty script against that of the limiter: what other programs disturb least. */
  readonly cpuRatio: number;
  readonly redisCpuUs: number;
  readonly scriptUs: number;
  readonly scriptCalls: number;
  readonly commands: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

const sameCase = (a: StoreCell, b: StoreCell): boolean => a.workload === b.workload && a.inFlight === b.inFlight;

export function summarizeStores(cells: readonly StoreCell[]): readonly StoreSummary[] {
  const first = cells.filter((cell) => cell.round === cells[0]?.round);
  return first.map((one) => {
    const same = cells.filter((cell) => cell.limiter === one.limiter && sameCase(cell, one));
    const ceilingOf = ({ round }: StoreCell): StoreCell =>
      cells.find((cell) => cell.limiter === CEILING && cell.round === round && sameCase(cell, one))!;
    const of = (figure: (cell: StoreCell) => number): number => median(same.map(figure));
    const ratios = same.map((cell) => cell.client.perSecond / ceilingOf(cell).client.perSecond);
    return {
      workload: one.workload,
      inFlight: one.inFlight,
      limiter: one.limiter,
      perSecond: of((cell) => cell.client.perSecond),
      ratio: median(ratios),
      ratioQuartiles: quartiles(ratios),
      p50Us: of((cell) => cell.client.p50Us),
      p99Us: of((cell) => cell.client.p99Us),
      p50OverCeilingUs: of((cell) => cell.client.p50Us - ceilingOf(cell).client.p50Us),
      clientCpuUs: of((cell) => cell.client.cpuUsPerDecision),
      cpuRatio: of((cell) => ceilingOf(cell).client.cpuUsPerDecision / cell.client.cpuUsPerDecision),
      redisCpuUs: of((cell) => cell.redis.cpuUs),
      scriptUs: of((cell) => cell.redis.scriptUs),
      scriptCalls: of((cell) => cell.redis.scriptCalls),
      commands: of((cell) => cell.redis.commands),
      bytesIn: of((cell) => cell.redis.bytesIn),
      bytesOut: of((cell) => cell.redis.bytesOut),
    };
  });
}
