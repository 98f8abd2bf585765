import { markdownTable, shown, type Column } from '../markdown-table.ts';
import { IN_FLIGHT, type StoreEffort } from './measure.ts';
import type { StoreSummary } from './summary.ts';
import { WORKLOADS } from './workloads.ts';

const COLUMNS: readonly Column<StoreSummary>[] = [
  { head: 'in flight', cell: (row) => row.inFlight },
  { head: 'limiter', cell: (row) => row.limiter },
  { head: 'decisions/s', cell: (row) => row.perSecond },
  { head: 'ratio', cell: (row) => row.ratio, digits: 2 },
  { head: 'middle half', cell: (row) => row.ratioQuartiles.map((ratio) => shown(ratio, 2)).join(' to ') },
  { head: 'p50 µs', cell: (row) => row.p50Us, digits: 1 },
  { head: 'over empty', cell: (row) => row.p50OverCeilingUs, digits: 1 },
  { head: 'p99 µs', cell: (row) => row.p99Us, digits: 1 },
  { head: 'client CPU µs', cell: (row) => row.clientCpuUs, digits: 1 },
  { head: 'ratio by CPU', cell: (row) => row.cpuRatio, digits: 2 },
  { head: 'Redis CPU µs', cell: (row) => row.redisCpuUs, digits: 1 },
  { head: 'script µs', cell: (row) => row.scriptUs, digits: 2 },
  { head: 'script calls', cell: (row) => row.scriptCalls, digits: 3 },
  { head: 'commands', cell: (row) => row.commands, digits: 2 },
  { head: 'bytes in', cell: (row) => row.bytesIn },
  { head: 'bytes out', cell: (row) => row.bytesOut },
];

const NOTE = `Ratios are decisions per second against those of \`EVALSHA\` of an empty script on the same kind of connection
in the same round; "over empty" is what p50 has above its, and "ratio by CPU" compares the
CPU time of the client, which other programs disturb less. CPU, script time, script calls, commands (those in scripts
included) and bytes (into and out of Redis) are for each decision. "floodgate" is the store that the module uses, all
wrappers included.`;

export function storeReport(rows: readonly StoreSummary[], { rounds, measureMs }: StoreEffort): string {
  const tables = WORKLOADS.map(({ name, rule, keys, expected }) => {
    const renewed = expected === 'admitted' && keys === 1 ? '; a new key when it is used up' : '';
    const heading = `### ${name}: limit ${shown(rule.limit)} in ${rule.windowMs / 1_000} s${renewed}`;
    const own = IN_FLIGHT.flatMap((inFlight) =>
      rows.filter((row) => row.workload === name && row.inFlight === inFlight).sort((a, b) => b.ratio - a.ratio),
    );
    return `${heading}\n\n${markdownTable(COLUMNS, own)}`;
  });
  const effort = `Medians of ${rounds} interleaved rounds of ${measureMs} ms each.`;
  return ['## Decisions', ...tables, `${NOTE} ${effort}`].join('\n\n');
}
