import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import type { Paint } from './paint.ts';
import { admittedBy, RIVALS } from './rivals.ts';
import { SALE, WINDOW_MS } from './rules.ts';
import { judge, type Finding, type Verdict } from './verdict.ts';
import type { Visit } from './visit.ts';

const WINDOW = `${WINDOW_MS / 1_000} s`;
const LONGEST_BAR = 34;

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
  const dating = `each admission dated between its request and its answer, ${Math.ceil(longestRoundTripMs)} ms at most`;
  return [
    paint.strong('What the oracle found'),
    ...findings.map((finding) => findingLine(finding, paint)),
    `  refused although there was room: ${needlessRefusals} of ${refused}`,
    ...(undecided > 0 ? [`  answered 503, since the store did not decide in time: ${undecided}`] : []),
    paint.faint(`  (${dating})`),
  ];
}

function findingLine({ promise: { counts, limit }, most }: Finding, paint: Paint): string {
  const text = `most admitted in any ${WINDOW}: ${String(most).padStart(2)}, limit ${String(limit).padStart(2)}`;
  return `  ${counts.padEnd(26)}${(most > limit ? paint.bad : paint.good)(text)}`;
}

function compared({ findings }: Verdict, visits: readonly Visit[], paint: Paint): readonly string[] {
  const orders = visits.filter(({ kind }) => kind === 'order');
  const ours = findings.find(({ promise }) => promise === SALE)!;
  const rivals = RIVALS.map(({ name, algorithm }) => {
    return { name, most: mostAdmittedInAnyWindow(admittedBy(algorithm, orders), WINDOW_MS) };
  });
  return [
    paint.strong(`The same ${orders.length} clicks under the same limits: most orders admitted in any ${WINDOW}`),
    ...[{ name: 'Floodgate', most: ours.most }, ...rivals].map(({ name, most }) => bar(name, most, paint)),
  ];
}

/** What is above the limit in another colour and shape. */
function bar(name: string, units: number, paint: Paint): string {
  const allowed = Math.min(units, SALE.limit);
  const isCut = units > LONGEST_BAR;
  const above = (isCut ? LONGEST_BAR - 1 : units) - allowed;
  const blocks = paint.good('█'.repeat(allowed)) + paint.bad('▒'.repeat(above) + (isCut ? '…' : ''));
  return `  ${name.padEnd(30)}${String(units).padStart(4)}  ${blocks}`;
}
