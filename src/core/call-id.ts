const PREFIX_LENGTH = 6;
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * A source of call ids that no other source in the fleet gives: a random prefix and a counter, 8 to 10 characters in
 * all for the first million calls. Ids are the members of a log, so each character counts in its memory.
 */
export function callIds(): () => string {
  const random = crypto.getRandomValues(new Uint32Array(PREFIX_LENGTH));
  const prefix = Array.from(random, (value) => DIGITS[value % DIGITS.length]).join('');
  let count = 0;
  return () => prefix + (count++).toString(36).padStart(2, '0');
}
