import { describe, expect, it } from '@jest/globals';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import { firstArticle, secondArticle } from './article-scripts.ts';
import { fixedWindow } from './fixed-window.ts';
import { admittedBy, type Order } from './rivals.ts';
import { WINDOW_MS } from './rules.ts';

/** One order of each of so many customers, all at once. */
const rush = (customers: number, sentAt: number): readonly Order[] =>
  Array.from({ length: customers }, (_, i) => ({ customer: String(i), sentAt }));

describe('What rivals would have admitted', () => {
  const rushes = [...rush(40, 10_100), ...rush(40, 9_900)];

  it.each([
    { name: 'a fixed window', algorithm: fixedWindow, most: 20 },
    { name: "the second article's script", algorithm: secondArticle, most: 80 },
    { name: "the first article's script", algorithm: firstArticle, most: 80 },
  ])('is $most orders within a window by $name, for two rushes of 40 about its edge', ({ algorithm, most }) => {
    expect(mostAdmittedInAnyWindow(admittedBy(algorithm, rushes), WINDOW_MS)).toBe(most);
  });

  it("keeps to the customer's limit too, which charges before the sale's", () => {
    const hammering = Array.from({ length: 20 }, (_, i) => ({ customer: 'bot', sentAt: 100 * i }));

    expect(admittedBy(fixedWindow, hammering)).toHaveLength(3);
    expect(admittedBy(fixedWindow, [...hammering, ...rush(40, 5_000)])).toHaveLength(10);
  });
});
