const LONGEST = 80;

/** A value as messages and logs show it: escaped, on one line, of bounded length. */
export function show(value: unknown): string {
  let text: string;
  try {
    text =
      typeof value === 'function'
        ? `function ${value.name}`.trim()
        : typeof value === 'bigint' || typeof value === 'number' || value === undefined || typeof value === 'symbol'
          ? String(value)
          : (JSON.stringify(value) ?? typeof value);
  } catch {
    text = typeof value;
  }
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** An error, or whatever else was thrown, as logs show it. */
export const describeError = (error: unknown): string =>
  error instanceof Error ? show(`${error.name}: ${error.message}`) : show(error);
