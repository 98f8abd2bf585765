import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import { CLOCK_TOLERANCE_MS, datedAdmissions, longestRoundTripMs } from './admissions.ts';
import { PROMISES, WINDOW_MS, type PromisedLimit } from './rules.ts';
import { isAdmitted, type Visit } from './visit.ts';

/** What became of one of the promised limits, over all its budgets. */
export interface Finding {
  readonly promise: PromisedLimit;
  /** What the oracle found: admissions that certainly fell within one window, the most of any budget. */
  readonly most: number;
  readonly admitted: number;
  readonly asked: number;
}

export interface Verdict {
  readonly findings: readonly Finding[];
  /** Refusals of requests that certainly had room. */
  readonly needlessRefusals: number;
  /** No admission is dated worse than this. */
  readonly longestRoundTripMs: number;
  /** What broke, one sentence each. Empty when the promise held. */
  readonly faults: readonly string[];
}

export function judge(visits: readonly Visit[]): Verdict {
  const findings = PROMISES.map((promise) => find(promise, visits));
  const refused = visits.filter(({ outcome }) => outcome === 'refused');
  const needlessRefusals = refused.filter((visit) => certainlyHadRoom(visit, visits)).length;
  return {
    findings,
    needlessRefusals,
    longestRoundTripMs: longestRoundTripMs(visits.filter(isAdmitted)),
    faults: [...findings.flatMap(faultsOf), ...faultsOfAnswers(visits), ...faultsOfRefusals(needlessRefusals)],
  };
}

function find(promise: PromisedLimit, visits: readonly Visit[]): Finding {
  const asked = visits.filter(({ kind }) => kind === promise.kind);
  const budgets = new Map<string, Visit[]>();
  for (const visit of asked) {
    const name = promise.budgetOf(visit);
    const budget = budgets.get(name);
    if (budget) budget.push(visit);
    else budgets.set(name, [visit]);
  }
  const mostOfEach = [...budgets.values()].map((budget) => {
    const { admissions, windowMs } = datedAdmissions(budget);
    return mostAdmittedInAnyWindow(admissions, windowMs);
  });
  return { promise, most: Math.max(0, ...mostOfEach), admitted: asked.filter(isAdmitted).length, asked: asked.length };
}

/** Whether every budget of a refused request had room, wherever in their round trips the decisions were made. */
function certainlyHadRoom(refused: Visit, visits: readonly Visit[]): boolean {
  const horizon = refused.sentAt - WINDOW_MS - CLOCK_TOLERANCE_MS;
  // What was not decided in time may have been charged.
  const mayCount = ({ outcome, sentAt, answeredAt }: Visit): boolean =>
    outcome !== 'refused' && sentAt <= refused.answeredAt && answeredAt > horizon;
  return PROMISES.filter(({ kind }) => kind === refused.kind).every(({ limit, kind, budgetOf }) => {
    const shares = (visit: Visit): boolean => visit.kind === kind && budgetOf(visit) === budgetOf(refused);
    return visits.filter((visit) => shares(visit) && mayCount(visit)).length < limit;
  });
}

function faultsOf({ promise: { limit, counts }, most, admitted }: Finding): readonly string[] {
  if (most > limit) return [`${most} ${counts} were admitted within ${WINDOW_MS / 1_000} s; the limit is ${limit}.`];
  if (admitted < limit)
    return [`Only ${admitted} ${counts} were admitted at all: the limit of ${limit} was not tried.`];
  return [];
}

function faultsOfAnswers(visits: readonly Visit[]): readonly string[] {
  const failed = visits.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return [];
  const answers = [...new Set(failed.map(({ answer }) => answer))].join(', ');
  return [`Requests answered with neither yes nor no: ${failed.length} (${answers}).`];
}

const faultsOfRefusals = (needless: number): readonly string[] =>
  needless === 0 ? [] : [`Requests refused although there was room for them: ${needless}.`];
