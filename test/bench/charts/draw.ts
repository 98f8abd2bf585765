import { PLATFORM_NAME, PLATFORMS, type Traffic } from '../http/application.ts';
import { TRAFFICS } from '../http/measure.ts';
import type { HttpSummary } from '../http/summary.ts';
import { CEILING, OURS, PEERS, PLAIN_LOG } from '../limiter-name.ts';
import type { KeyMemory } from '../memory/measure.ts';
import type { StoreSummary } from '../store/summary.ts';
import { MANY_KEYS, REFUSED } from '../store/workloads.ts';
import { barChart } from './bar-chart.ts';
import { logChart, type Series } from './log-chart.ts';

const isOurs = (name: string): boolean => name.startsWith(OURS);

const MOST_IN_FLIGHT = 500;

export function storeChart(rows: readonly StoreSummary[], taken: string): string {
  const headings = {
    [MANY_KEYS.name]: `Admitted, 10,000 keys, limit ${MANY_KEYS.rule.limit}`,
    [REFUSED.name]: 'Refused, one key',
  };
  const panels = Object.entries(headings).map(([workload, heading]) => ({
    heading,
    bars: rows
      .filter((row) => row.workload === workload && row.inFlight === MOST_IN_FLIGHT && row.limiter !== CEILING)
      .map(({ limiter, ratio }) => ({ label: limiter, value: ratio, isOurs: isOurs(limiter) })),
  }));
  return barChart({
    title: 'Decisions per second on one connection, 500 in flight',
    one: 'what the same connection reaches with EVALSHA of an empty script',
    panels,
    columns: 2,
    captions: [taken],
  });
}

export function httpChart(rows: readonly HttpSummary[], taken: string): string {
  const verb: Readonly<Record<Traffic, string>> = { admitted: 'all admitted', refused: 'all refused' };
  const panels = PLATFORMS.flatMap((platform) =>
    TRAFFICS.map((traffic) => ({
      heading: `Nest on ${PLATFORM_NAME[platform]}, ${verb[traffic]}`,
      bars: rows
        .filter((row) => row.platform === platform && row.traffic === traffic)
        .filter(({ application }) => !application.startsWith('no limiter'))
        .map(({ application, ratio }) => ({
          label: application.replace(' and ', ' + ').replace(/ rules?$/, ''),
          value: ratio,
          isOurs: isOurs(application),
        })),
    })),
  );
  return barChart({
    title: 'Requests per second of a Nest application',
    one: 'the same application without a limiter',
    panels: panels.filter(({ bars }) => bars.length > 0),
    columns: 2,
    captions: ['METHOD + USER rules: against the same authentication without a limiter.', taken],
  });
}

const UNITS = ['B', 'kB', 'MB', 'GB'];

/** In powers of a thousand. */
export function bytes(value: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1_000 ** power;
  return `${scaled < 9.95 && power > 0 && scaled % 1 !== 0 ? scaled.toFixed(1) : Math.round(scaled)} ${UNITS[power]}`;
}

export function memoryChart(found: readonly KeyMemory[], taken: string): string {
  const pointsOf = (limiter: string): Series['points'] =>
    found.filter((one) => one.limiter === limiter).map(({ limit, bytes: size }) => [limit, size]);
  const series: readonly Series[] = [
    { label: 'floodgate', isOurs: true, points: pointsOf(OURS) },
    { label: 'sorted set, an entry for each request', isOurs: false, points: pointsOf(PLAIN_LOG) },
    // All of the peers count, in as many bytes but for the length of a name.
    ...PEERS.map((peer, i) => ({
      ...(i === 0 && { label: 'counters of the peers (fixed windows)' }),
      isOurs: false,
      points: pointsOf(peer),
    })),
  ];
  return logChart({
    title: 'Memory of one key whose limit is used up',
    subtitle: 'Lower is better; both axes are logarithmic. MEMORY USAGE of all that Redis keeps of it.',
    xTitle: 'limit',
    showX: (limit) => limit.toLocaleString('en-US'),
    showY: bytes,
    series: series.filter(({ points }) => points.length > 0),
    captions: [taken],
  });
}
