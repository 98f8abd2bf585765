const MS_PER_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A length of time: seconds as a number, or a number with its unit: `'500ms'`, `'10s'`, `'1m'`, `'1h'`, `'1d'`. */
export type Duration = number | string;

/** Longer bare numbers are taken for milliseconds that were meant as seconds. */
const LONGEST_BARE_SECONDS = 3_600;
const LONGEST_MS = 366 * MS_PER_UNIT.d;

/**
 * The whole milliseconds in a {@link Duration}, or a sentence that says what is wrong with it ("must be …").
 * Bare numbers, and strings that are clean numbers (as environment variables are), count seconds.
 */
export function parseDuration(value: unknown): { readonly ms: number } | { readonly fault: string } {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  if (!match) return { fault: "must be seconds as a number, or like '500ms', '10s', '1m', '1h', '1d'" };
  const amount = Number(match[1]);
  const unit = match[2] as keyof typeof MS_PER_UNIT | undefined;
  if (unit === undefined && amount > LONGEST_BARE_SECONDS) {
    return {
      fault: `is a bare number above ${LONGEST_BARE_SECONDS}, which counts seconds: write '2h', or '${text}ms'`,
    };
  }
  const exactMs = amount * MS_PER_UNIT[unit ?? 's'];
  const ms = Math.round(exactMs);
  if (Math.abs(exactMs - ms) > 1e-6 || ms < 1) return { fault: 'must be a whole number of milliseconds, at least 1' };
  if (ms > LONGEST_MS) return { fault: 'must not be longer than 366 days' };
  return { ms };
}

/** Whole milliseconds. @throws RangeError for what {@link parseDuration} finds a fault in */
export function durationMs(value: Duration): number {
  const parsed = parseDuration(value);
  if ('fault' in parsed) throw new RangeError(`${JSON.stringify(value)} ${parsed.fault}`);
  return parsed.ms;
}

/** The shortest usual spelling: 10000 → `10s`, 1500 → `1500ms`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms % MS_PER_UNIT[unit] === 0) return `${ms / MS_PER_UNIT[unit]}${unit}`;
  }
  return `${ms}ms`;
}
