/**
 * Measures the library beside others on this machine, and prints tables.
 * Usage: npm run bench, with the options that `--help` prints. Exit status 1 when a limiter did not do its work.
 */
import { PLATFORMS } from './http/application.ts';
import { measureHttp, type HttpEffort } from './http/measure.ts';
import { httpReport } from './http/report.ts';
import { summarizeHttp } from './http/summary.ts';
import { readOptions, USAGE, type BenchOptions, type Section } from './options.ts';
import { measureMemory } from './memory/measure.ts';
import { memoryReport } from './memory/report.ts';
import { writeFigures, type Finding } from './figures.ts';
import { describeMachine } from './setup/machine.ts';
import { installPeers } from './setup/peers.ts';
import { startRedisUnderTest, type RedisUnderTest } from './setup/redis-under-test.ts';
import { measureStores, type StoreEffort } from './store/measure.ts';
import { storeReport } from './store/report.ts';
import { summarizeStores } from './store/summary.ts';

/** Many short rounds: what is compared is close in time, and the median does not mind the disturbed ones. */
const PARTS: Readonly<Record<Section, (redis: RedisUnderTest, options: BenchOptions) => Promise<Finding>>> = {
  async store(redis, { quick, rounds = quick ? 1 : 15 }) {
    const effort: StoreEffort = { rounds, measureMs: quick ? 80 : 150, compilingMs: quick ? 80 : 500 };
    const cells = await measureStores(redis, effort, (round) => say(`store: round ${round} of ${rounds}`));
    const rows = summarizeStores(cells);
    return { section: 'store', rows, markdown: storeReport(rows, effort) };
  },
  async memory(redis, { quick }) {
    say('memory');
    const rows = await measureMemory(redis, quick ? 1_000 : 1_000_000);
    return { section: 'memory', rows, markdown: memoryReport(rows) };
  },
  async http(redis, { quick, rounds = quick ? 1 : 13 }) {
    const platforms = quick ? (['fastify'] as const) : PLATFORMS;
    const effort: HttpEffort = { platforms, rounds, measureMs: quick ? 250 : 400, compilingMs: quick ? 250 : 5_000 };
    const cells = await measureHttp(redis, effort, (platform, traffic) => say(`http: ${platform}, ${traffic}`));
    const rows = summarizeHttp(cells);
    return { section: 'http', rows, markdown: httpReport(rows, effort) };
  },
};

const beganAt = performance.now();
/** Progress, apart from the tables. */
const say = (what: string): void =>
  console.error(`[${((performance.now() - beganAt) / 1_000).toFixed(0).padStart(4)} s] ${what}`);

async function bench(options: BenchOptions): Promise<void> {
  say('installing the peers and the packed library');
  installPeers();
  const redis = await startRedisUnderTest();
  try {
    const machine = describeMachine(redis.version);
    for (const section of options.only) {
      const finding = await PARTS[section](redis, options);
      console.log(`\n${finding.markdown}\n`);
      writeFigures(finding, machine, options.save);
    }
  } finally {
    await redis.stop();
  }
  say('done');
}

const options = readOptions(process.argv.slice(2));
if (options) {
  await bench(options);
} else {
  console.error(USAGE);
  process.exitCode = 2;
}
