/**
 * Ten minutes of steady load, in which every visit is by a new client: what leaks, grows.
 * Usage: npm run bench:soak [-- --minutes=N]. Exit status 1 when something grew, or when an answer was wrong.
 */
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startChild } from '../../support/child.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { markdownTable } from '../markdown-table.ts';
import type { SoakState } from './application.ts';
import { megabytes, TOLERANCES, violations, type Sample } from './verdict.ts';
import { Visits, type VisitFigures } from './visits.ts';

const CONNECTIONS = 50;
const VISITS_PER_SECOND = 500;
/** In which code is compiled and every connection used. */
const WARM_UP_MS = 2_000;
/** Enough of them to tell a trend, when the soak is short. */
const LEAST_SAMPLES = 12;

type Row = Sample & VisitFigures & { readonly keys: number };

async function soak(minutes: number): Promise<readonly string[]> {
  const server = await startRedisServer();
  const application = await startChild(new URL('application.ts', import.meta.url), { REDIS_URL: server.url });
  const admin = new Redis(server.url);
  try {
    const stateOf = (): Promise<SoakState> => application.ask<SoakState>('state');
    const { url } = await stateOf();
    const visits = await Visits.open(url, CONNECTIONS);
    await visits.run(WARM_UP_MS, VISITS_PER_SECOND);
    const before = await stateOf();
    const periodMs = Math.min(60_000, (minutes * 60_000) / LEAST_SAMPLES);
    const rows: Row[] = [];
    const beganAt = performance.now();
    const minutesNow = (): number => (performance.now() - beganAt) / 60_000;
    // No visits while it is looked at: a garbage collection would show in their times.
    while (minutesNow() < minutes) {
      const figures = await visits.run(periodMs, VISITS_PER_SECOND);
      const { heapBytes } = await stateOf();
      const redisBytes = Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
      rows.push({ minutes: minutesNow(), heapBytes, redisBytes, keys: await admin.dbsize(), ...figures });
      console.error(`${minutesNow().toFixed(1)} of ${minutes} minutes`);
    }
    const after = await stateOf();
    visits.close();
    console.log(`${tableOf(rows)}\n\n${TOLERANCES}\n`);
    return violations(rows, { before: before.resources, after: after.resources });
  } finally {
    admin.disconnect();
    await application.stop();
    await server.stop();
  }
}

const tableOf = (rows: readonly Row[]): string =>
  markdownTable<Row>(
    [
      { head: 'minute', cell: (row) => row.minutes, digits: 1 },
      { head: 'visits', cell: (row) => row.visits },
      { head: 'p50 ms', cell: (row) => row.p50Ms, digits: 2 },
      { head: 'p99 ms', cell: (row) => row.p99Ms, digits: 2 },
      { head: 'heap MB', cell: (row) => megabytes(row.heapBytes) },
      { head: 'Redis MB', cell: (row) => megabytes(row.redisBytes) },
      { head: 'keys in Redis', cell: (row) => row.keys },
    ],
    rows,
  );

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, got ${values.minutes}`);
const faults = await soak(minutes);
for (const fault of faults) console.log(`FAIL  ${fault}`);
if (faults.length === 0) console.log('pass  memory, answers and handles stayed as they were');
process.exitCode = faults.length === 0 ? 0 : 1;
