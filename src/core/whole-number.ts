/**
 * A whole number from `least` to `most`, or a sentence that says what is wrong ("must be …"). Strings of digits, as
 * environment variables are, count as numbers.
 */
export function parseWholeNumber(
  value: unknown,
  most: number,
  least = 1,
): { readonly value: number } | { readonly fault: string } {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (Number.isInteger(number) && (number as number) >= least && (number as number) <= most) {
    return { value: number as number };
  }
  return { fault: `must be a whole number from ${least} to ${most}` };
}
