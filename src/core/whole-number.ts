/**
 * A whole number from 1 to `most`, or a sentence that says what is wrong ("must be …"). Strings of digits, as
 * environment variables are, count as numbers.
 */
export function parseWholeNumber(
  value: unknown,
  most: number,
): { readonly value: number } | { readonly fault: string } {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (Number.isInteger(number) && (number as number) >= 1 && (number as number) <= most) {
    return { value: number as number };
  }
  return { fault: `must be a whole number from 1 to ${most}` };
}
