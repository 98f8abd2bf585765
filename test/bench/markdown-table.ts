/** A column of a table and how a row fills it. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string | number;
  /** Digits behind the point. @default 0 */
  readonly digits?: number;
}

export const shown = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Texts stand left, numbers right. */
export function markdownTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const values = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const cells = values.map((line) => line.map((value, i) => textOf(value, columns[i]!.digits)));
  const heads = columns.map(({ head }) => head);
  const widths = heads.map((head, i) => Math.max(3, head.length, ...cells.map((line) => line[i]!.length)));
  const isNumeric = heads.map((_, i) => values.every((line) => typeof line[i] === 'number'));
  const line = (texts: readonly string[]): string =>
    `| ${texts.map((text, i) => (isNumeric[i] ? text.padStart(widths[i]!) : text.padEnd(widths[i]!))).join(' | ')} |`;
  const rule = widths.map((width, i) => '-'.repeat(isNumeric[i] ? width - 1 : width) + (isNumeric[i] ? ':' : ''));
  return [line(heads), line(rule), ...cells.map(line)].join('\n');
}

const textOf = (value: string | number, digits: number | undefined): string => {
  if (typeof value === 'string') return value;
  return Number.isNaN(value) ? '–' : shown(value, digits);
};
