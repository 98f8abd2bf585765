import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import type { Paint } from './paint.ts';
import { admittedBy, RIVALS } from './rivals.ts';
import { SALE, WINDOW_MS } from './rules.ts';
import { judge, type Finding, type Verdict } from './verdict.ts';
import type { Visit } from './visit.ts';

const WINDOW = `${WINDOW_MS / 1_000} s`;
const LONGEST_BAR = 45;

/** What is to be said when the sale is over. */
export function report(visits: readonly Visit[], paint: Paint): { lines: readonly string[]; held: boolean } {
  const verdict = judge(visits);
  const held = verdict.faults.length === 0;
  const conclusion = held
    ? [paint.good(paint.strong('The promise held.'))]
    : [paint.bad(paint.strong('The promise did not hold.')), ...verdict.faults.map((fault) => `  ${fault}`)];
  return {
    lines: [...found(verdict, visits, paint), '', ...compared(verdict, visits, paint), '', ...conclusion],
    held,
  };
}

function found({ findings, longestRoundTripMs, needlessRefusals }: Verdict, visits: readonly Visit[], paint: Paint) {
  const refused = visits.filter(({ outcome }) => outcome === 'refused').length;
  const undecided = visits.filter(({ outcome }) => outcome === 'undecided').length;
  const dating = `Each admission is dated between its request and its answer: ${Math.ceil(longestRoundTripMs)} ms at most.`;
  return [
    paint.strong('What the oracle found'),
    ...findings.map((finding) => findingLine(finding, paint)),
    `  refused although there was room: ${needlessRefusals} of ${refused}`,
    ...(undecided > 0 ? [`  answered 503, since the store did not decide in time: ${undecided}`] : []),
    paint.faint(`  ${dating}`),
  ];
}

function findingLine({ promise: { counts, limit }, most }: Finding, paint: Paint): string {
  const text = `most admitted in any ${WINDOW}: ${String(most).padStart(2)}, limit ${String(limit).padStart(2)}`;
  return `  ${counts.padEnd(26)}${(most > limit ? paint.bad : paint.good)(text)}`;
}

function compared({ findings }: Verdict, visits: readonly Visit[], paint: Paint): readonly string[] {
  const orders = visits.filter(({ kind }) => kind === 'order');
  const ours = findings.find(({ promise }) => promise === SALE)!;
  const ofRivals = RIVALS.flatMap(({ name, flaw, algorithm }) => {
    const most = mostAdmittedInAnyWindow(admittedBy(algorithm, orders), WINDOW_MS);
    return [bar(name, most, paint), paint.faint(`      ${flaw}`)];
  });
  return [
    paint.strong(`Most orders admitted in any ${WINDOW}, had others decided the same ${orders.length} clicks`),
    bar('Floodgate', ours.most, paint),
    ...ofRivals,
  ];
}

/** What is above the limit has another colour and shape. */
function bar(name: string, units: number, paint: Paint): string {
  const allowed = Math.min(units, SALE.limit);
  const isCut = units > LONGEST_BAR;
  const above = (isCut ? LONGEST_BAR - 1 : units) - allowed;
  const blocks = paint.good('█'.repeat(allowed)) + paint.bad('▒'.repeat(above) + (isCut ? '…' : ''));
  return `  ${name.padEnd(26)}${String(units).padStart(3)}  ${blocks}`;
}
