import { markdownTable, shown, type Column } from '../markdown-table.ts';
import { PLATFORM_NAME } from './application.ts';
import { TRAFFICS, type HttpEffort } from './measure.ts';
import { RULE_FOR } from './rules.ts';
import type { HttpSummary } from './summary.ts';

const COLUMNS: readonly Column<HttpSummary>[] = [
  { head: 'application', cell: (row) => row.application },
  { head: 'requests/s', cell: (row) => row.perSecond },
  { head: 'ratio', cell: (row) => row.ratio, digits: 2 },
  { head: 'middle half', cell: (row) => row.ratioQuartiles.map((ratio) => shown(ratio, 2)).join(' to ') },
  { head: 'ratio by CPU', cell: (row) => row.cpuRatio, digits: 2 },
  { head: 'CPU µs', cell: (row) => row.cpuUs, digits: 1 },
  { head: 'p50 ms', cell: (row) => row.p50Us / 1_000, digits: 2 },
  { head: 'p99 ms', cell: (row) => row.p99Us / 1_000, digits: 2 },
  { head: 'Redis CPU µs', cell: (row) => row.redisCpuUs, digits: 1 },
];

const NOTE = `Requests per second on 50 connections from one address. Ratios are against the same application without a
limiter in the same round (behind authentication, against the one with authentication); "ratio by CPU" compares the CPU
time of the application for each request, which other programs disturb less. rate-limiter-flexible has no module for
Nest: a guard of five lines without headers stands for it.`;

export function httpReport(rows: readonly HttpSummary[], { platforms, rounds, measureMs }: HttpEffort): string {
  const tables = platforms.flatMap((platform) =>
    TRAFFICS.map((traffic) => {
      const { limit, windowMs } = RULE_FOR[traffic];
      const own = rows.filter((row) => row.platform === platform && row.traffic === traffic);
      const sorted = [...own].sort((a, b) => b.ratio - a.ratio);
      const heading = `### Nest on ${PLATFORM_NAME[platform]}, ${traffic}: limit ${shown(limit)} in ${windowMs / 1_000} s`;
      return `${heading}\n\n${markdownTable(COLUMNS, sorted)}`;
    }),
  );
  return ['## HTTP', ...tables, `${NOTE} Medians of ${rounds} interleaved rounds of ${measureMs} ms each.`].join(
    '\n\n',
  );
}
