const LONGEST = 80;
/** Messages of errors say what was expected, too. */
const LONGEST_ERROR = 240;

/** What ends a line, moves a cursor, turns the direction of text, or is half a character. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A value as messages and logs show it: escaped, on one line, of bounded length. */
export const show = (value: unknown): string => shown(value, LONGEST);

function shown(value: unknown, longest: number): string {
  const text = textOf(value);
  // Cut first, so that half a character at the end is escaped too.
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(UNPRINTABLE, escapeUnits);
}

function textOf(value: unknown): string {
  try {
    if (typeof value === 'function') return `function ${value.name}`.trim();
    const isPlain = ['bigint', 'number', 'undefined', 'symbol'].includes(typeof value);
    return isPlain ? String(value) : (JSON.stringify(value) ?? typeof value);
  } catch {
    return typeof value;
  }
}

const escapeUnits = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');

/** An error, or whatever else was thrown, as logs show it. */
export const describeError = (error: unknown): string =>
  shown(error instanceof Error ? `${error.name}: ${error.message}` : error, LONGEST_ERROR);
