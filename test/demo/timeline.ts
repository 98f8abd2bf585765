import { datedAdmissions } from './admissions.ts';
import type { Paint } from './paint.ts';
import { SALE, WINDOW_MS } from './rules.ts';
import { CROWD, SALE_MS } from './scenario.ts';
import { isAdmitted, type Party, type Visit } from './visit.ts';

export const PARTIES: readonly { readonly party: Party; readonly title: string }[] = [
  { party: 'crowd', title: `crowd of ${CROWD}` },
  { party: 'bot', title: 'one bot' },
  { party: 'guesser', title: 'code guesser' },
];

const COLUMN_MS = 500;
const COLUMNS = SALE_MS / COLUMN_MS;
const TITLE_WIDTH = 14;
const TICK_COLUMNS = 10;
const LEVELS = ' ▁▂▃▄▅▆▇█';

/** The sale so far: time runs to the right, with a row for each party and one for the window. At most 78 wide. */
export function timelineRows(visits: readonly Visit[], nowMs: number, paint: Paint): readonly string[] {
  const sinceOpening = visits.filter(({ answeredAt }) => answeredAt >= 0);
  const rows = PARTIES.map(({ party, title }) => {
    const own = sinceOpening.filter(({ by }) => by === party);
    const cells = Array.from({ length: COLUMNS }, (_, column) => cell(own.filter(isIn(column)), paint));
    return row(title, cells, `${own.filter(isAdmitted).length} of ${own.length}`);
  });
  const gauge = Array.from({ length: COLUMNS }, (_, column) => {
    if (column * COLUMN_MS >= nowMs) return ' ';
    return level(ordersInWindow(visits, Math.min((column + 1) * COLUMN_MS, nowMs)), paint);
  });
  const inWindow = `${ordersInWindow(visits, nowMs)}, limit ${SALE.limit}`;
  return [paint.faint(axis()), ...rows, row('last 10 s', gauge, inWindow)];
}

/** Orders admitted within the window that ends at this moment, so far as that is certain. */
export function ordersInWindow(visits: readonly Visit[], atMs: number): number {
  const { admissions, windowMs } = datedAdmissions(visits.filter(({ kind }) => kind === 'order'));
  return admissions.filter(({ at }) => at > atMs - windowMs && at <= atMs).length;
}

export const legend = (paint: Paint): string =>
  `${' '.repeat(2 + TITLE_WIDTH)}${paint.good('3')} admitted   ${paint.bad('·░▒')} refused: few, some, many   ` +
  `${paint.good('█')} the window of ${WINDOW_MS / 1_000} s is full`;

const isIn =
  (column: number) =>
  ({ answeredAt }: Visit): boolean =>
    Math.floor(answeredAt / COLUMN_MS) === column;

const row = (title: string, cells: readonly string[], total: string): string =>
  `  ${title.padEnd(TITLE_WIDTH)}${cells.join('')}  ${total}`;

function axis(): string {
  const ticks = Array.from({ length: Math.ceil(COLUMNS / TICK_COLUMNS) }, (_, i) =>
    `${(i * TICK_COLUMNS * COLUMN_MS) / 1_000} s`.padEnd(TICK_COLUMNS),
  );
  return row('', [ticks.join('').slice(0, COLUMNS).padEnd(COLUMNS)], 'admitted');
}

/** How many were admitted, or else how densely it was refused. */
function cell(visits: readonly Visit[], paint: Paint): string {
  const admitted = visits.filter(isAdmitted).length;
  if (admitted > 0) return paint.good(paint.strong(admitted < 10 ? String(admitted) : '#'));
  if (visits.length === 0) return ' ';
  return paint.bad(visits.length < 5 ? '·' : visits.length < 20 ? '░' : '▒');
}

function level(units: number, paint: Paint): string {
  if (units > SALE.limit) return paint.bad('!');
  return paint.good(LEVELS[Math.ceil((units / SALE.limit) * (LEVELS.length - 1))]!);
}
