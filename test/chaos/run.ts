/**
 * Lets everything go wrong with Redis that the guarantees speak of, one after another, and measures what an application
 * makes of it. Usage: node --import @swc-node/register/esm-register test/chaos/run.ts [-- text that the names contain].
 * Exit status 1 when a guarantee was broken or nothing was tried.
 */
import { heapOverOutage, MOST_GROWTH_BYTES } from './memory.ts';
import { all } from './scenarios/all.ts';
import { SALE } from './routes.ts';
import type { Scenario } from './scenario.ts';
import { tryOut } from './trial.ts';
import { figuresOf, violationsOf } from './verdict.ts';

type Row = Readonly<Record<string, string | number>>;

async function rowOf(scenario: Scenario): Promise<{ row: Row; violations: readonly string[] }> {
  const { name, expected } = scenario;
  try {
    const outcome = await tryOut(scenario, { length: 'fully' });
    const figures = figuresOf(outcome);
    const row = {
      scenario: name,
      requests: figures.requests,
      p50: Math.round(figures.p50Ms),
      p99: Math.round(figures.p99Ms),
      max: Math.round(figures.maxMs),
      'own max': Math.round(figures.maxOwnMs),
      statuses: figures.statuses,
      window: `${figures.mostInAWindow} of ${expected.bound * SALE.limit}`,
      recovery: Math.round(figures.recoveredInMs),
      lines: figures.lines,
    };
    return { row, violations: violationsOf(outcome) };
  } catch (error) {
    return { row: { scenario: name }, violations: [`could not be tried: ${String(error)}`] };
  }
}

const HEAP_NAME = 'the heap in an outage of five minutes';
const OUTAGE_MS = 300_000;

async function keepsMemory(): Promise<boolean> {
  const { early, late } = await heapOverOutage(OUTAGE_MS);
  const isKept = late - early < MOST_GROWTH_BYTES;
  const [from, to] = [early, late].map((bytes) => (bytes / 1_048_576).toFixed(1));
  console.log(`${isKept ? 'pass' : 'FAIL'}  ${HEAP_NAME}: from ${from} MB after a fifth of it to ${to} MB`);
  return isKept;
}

const wanted = process.argv.slice(2).find((argument) => argument !== '--') ?? '';
const chosen = all.filter(({ name }) => name.includes(wanted));
const rows: Row[] = [];
let broken = 0;
for (const scenario of chosen) {
  const { row, violations } = await rowOf(scenario);
  rows.push(row);
  if (violations.length > 0) broken++;
  console.log(`${violations.length === 0 ? 'pass' : 'FAIL'}  ${scenario.name}`);
  for (const violation of violations) console.log(`      ${violation}`);
}
console.table(rows);
const triesMemory = HEAP_NAME.includes(wanted);
if (triesMemory && !(await keepsMemory())) broken++;
if (chosen.length === 0 && !triesMemory) console.error(`No name contains '${wanted}'; nothing was tried.`);
process.exitCode = (chosen.length === 0 && !triesMemory) || broken > 0 ? 1 : 0;
