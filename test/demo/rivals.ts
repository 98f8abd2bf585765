import type { Admission } from '../support/oracle.ts';
import { firstArticle, secondArticle } from './article-scripts.ts';
import { fixedWindow } from './fixed-window.ts';
import type { Algorithm, Limiter } from './limiter.ts';
import { PER_CUSTOMER, SALE, WINDOW_MS } from './rules.ts';
import type { Visit } from './visit.ts';

export interface Rival {
  readonly name: string;
  /** Why it errs. */
  readonly flaw: string;
  readonly algorithm: Algorithm;
}

export const RIVALS: readonly Rival[] = [
  { name: 'fixed window', flaw: 'starts anew at 10 s and at 20 s', algorithm: fixedWindow },
  {
    name: "second article's script",
    flaw: 'requests of the same millisecond count as one',
    algorithm: secondArticle,
  },
  { name: "first article's script", flaw: 'requests of the same second count as one', algorithm: firstArticle },
];

export type Order = Pick<Visit, 'sentAt' | 'customer'>;

/**
 * What the rival would have admitted of the same orders under the same two limits: first the customer's, then the
 * sale's, each with a budget of its own, as two annotations on a method are.
 *
 * An order is dated when it was sent. A shop with a thread for each request, as the articles' shop has, reads its
 * clock about then; a Node process comes to the last order of a rush many milliseconds later, one by one.
 */
export function admittedBy(algorithm: Algorithm, orders: readonly Order[]): readonly Admission[] {
  const ofSale = algorithm(SALE.limit, WINDOW_MS);
  const ofCustomers = new Map<string, Limiter>();
  const inOrder = [...orders].sort((a, b) => a.sentAt - b.sentAt);
  return inOrder.flatMap(({ customer, sentAt }) => {
    const ofCustomer = ofCustomers.get(customer) ?? algorithm(PER_CUSTOMER.limit, WINDOW_MS);
    ofCustomers.set(customer, ofCustomer);
    return ofCustomer(sentAt) && ofSale(sentAt) ? [{ at: sentAt, units: 1 }] : [];
  });
}
