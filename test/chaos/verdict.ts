import { mostSurelyAdmittedInAnyWindow } from '../support/oracle.ts';
import { SALE } from './routes.ts';
import type { JudgedVisit, Outcome } from './trial.ts';

const DEADLINE_MS = 100;
/** What an answer may take besides. */
const ALLOWANCE_MS = 50;
const RECOVERY_MS = 2_000;
/** A machine that stops a process for so long lets single decisions miss their deadline, without any cause in Redis. */
const LONG_STOP_MS = 40;

const STATUSES: Readonly<Record<string, readonly number[]>> = {
  '/sale': [200, 429],
  '/address': [200],
  '/allow': [200],
  '/deny': [200, 503],
  '/plain': [200],
};

/** The figures of an outcome. */
interface Figures {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The largest, less what a call without a limit would have taken then. */
  readonly maxOwnMs: number;
  readonly statuses: string;
  readonly mostInAWindow: number;
  /** Until the first entry in the log of the sale, and the first decision where there is none without Redis. */
  readonly recoveredInMs: number;
  readonly lines: number;
}

export function figuresOf({ visits, recoveredInMs, endedAt, report }: Outcome): Figures {
  const limited = visits.filter(({ path }) => path !== '/plain');
  const took = limited.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const part = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? NaN;
  const decided = visits.filter(
    ({ path, status, startedAt }) => path === '/deny' && status === 200 && startedAt > endedAt,
  );
  const firstDecided = Math.min(...decided.map(({ startedAt }) => startedAt)) - endedAt;
  return {
    requests: visits.length,
    p50Ms: part(0.5),
    p99Ms: part(0.99),
    maxMs: part(1),
    maxOwnMs: Math.max(...limited.map(ownMs)),
    statuses: countsOf(visits.map(({ status }) => status)),
    mostInAWindow: mostInAWindow(visits),
    recoveredInMs: Math.max(recoveredInMs, firstDecided),
    lines: report.storeLines.length,
  };
}

/** What is not as it should be, one sentence each. */
export function violationsOf(outcome: Outcome): readonly string[] {
  const { scenario, visits, report } = outcome;
  const { maxOwnMs, mostInAWindow: most, recoveredInMs } = figuresOf(outcome);
  const bound = scenario.expected.bound * SALE.limit;
  const violations = [...wrongStatuses(visits), ...report.faults, ...wrongLines(outcome)];
  if (maxOwnMs > DEADLINE_MS + ALLOWANCE_MS) violations.push(`a request took ${Math.round(maxOwnMs)} ms`);
  if (most > bound) violations.push(`${most} were admitted in one window, ${bound} are the most`);
  if (!(recoveredInMs <= RECOVERY_MS))
    violations.push(`Redis decided again only after ${Math.round(recoveredInMs)} ms`);
  return violations;
}

const ownMs = ({ tookMs, controlMs }: JudgedVisit): number => tookMs - controlMs;

function mostInAWindow(visits: readonly JudgedVisit[]): number {
  const admitted = visits.filter(({ path, servedAt }) => path === '/sale' && servedAt !== undefined);
  return mostSurelyAdmittedInAnyWindow(
    admitted.map(({ startedAt, servedAt }) => ({ from: startedAt, to: servedAt!, units: 1 })),
    SALE.windowMs,
  );
}

function wrongStatuses(visits: readonly JudgedVisit[]): readonly string[] {
  const wrong = visits.filter(({ path, status }) => !STATUSES[path]!.includes(status));
  const counts = countsOf(wrong.map(({ path, status }) => `${status} of ${path}`));
  return wrong.length > 0 ? [`wrong answers: ${counts}`] : [];
}

/** Each loss of the store is told once, and each return; how many there may be depends on the machine too. */
function wrongLines({ scenario, report, visits }: Outcome): readonly string[] {
  const { outage } = scenario.expected;
  const lines = report.storeLines;
  if (outage === 'for single calls')
    return lines.length === 1 ? [] : [`told ${lines.length} times: ${lines.join('; ')}`];
  const losses = lines.filter((line) => line.startsWith('error'));
  const inTurn = lines.every((line, i) => line.startsWith(i % 2 === 0 ? 'error' : 'log'));
  const stops = visits.some(({ controlMs }) => controlMs > LONG_STOP_MS) ? 1 : 0;
  const most = stops + (outage === 'never' ? 0 : 1);
  const faults: string[] = [];
  if (!inTurn || lines.length % 2 === 1) faults.push(`losses and returns do not alternate: ${lines.join('; ')}`);
  if (losses.length > most) faults.push(`${losses.length} losses were told: ${lines.join('; ')}`);
  if (outage === 'certainly' && losses.length === 0) faults.push('no loss was told');
  return faults;
}

function countsOf(values: readonly (string | number)[]): string {
  const counts = new Map<string | number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => `${value}: ${count}`).join(', ');
}
