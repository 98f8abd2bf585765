import type { Admission } from '../support/oracle.ts';
import { firstArticle, secondArticle } from './article-scripts.ts';
import { fixedWindow } from './fixed-window.ts';
import type { Algorithm, Limiter } from './limiter.ts';
import { PER_CUSTOMER, SALE, WINDOW_MS } from './rules.ts';
import type { Visit } from './visit.ts';

export interface Rival {
  readonly name: string;
  readonly algorithm: Algorithm;
}

export const RIVALS: readonly Rival[] = [
  { name: 'a fixed window', algorithm: fixedWindow },
  { name: "the second article's script (milliseconds)", algorithm: secondArticle },
  { name: "the first article's script (seconds)", algorithm: firstArticle },
];

export type Arrival = Pick<Visit, 'arrivedAt' | 'customer'>;

/**
 * What the rival would have admitted of the same orders under the same two limits: first the customer's, then the
 * sale's, each with a budget of its own, as two annotations on a method are.
 */
export function admittedBy(algorithm: Algorithm, orders: readonly Arrival[]): readonly Admission[] {
  const ofSale = algorithm(SALE.limit, WINDOW_MS);
  const ofCustomers = new Map<string, Limiter>();
  const inOrder = [...orders].sort((a, b) => a.arrivedAt - b.arrivedAt);
  return inOrder.flatMap(({ customer, arrivedAt }) => {
    const ofCustomer = ofCustomers.get(customer) ?? algorithm(PER_CUSTOMER.limit, WINDOW_MS);
    ofCustomers.set(customer, ofCustomer);
    return ofCustomer(arrivedAt) && ofSale(arrivedAt) ? [{ at: arrivedAt, units: 1 }] : [];
  });
}
