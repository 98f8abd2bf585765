import type { Visit } from './visit.ts';

export const WINDOW_MS = 10_000;

/** A limit of the shop, as its customers were promised it. */
export interface PromisedLimit {
  readonly limit: number;
  /** What is counted, and who is counted together. */
  readonly counts: string;
  readonly kind: Visit['kind'];
  /** The name of the budget that a visit takes from. */
  readonly budgetOf: (visit: Pick<Visit, 'customer' | 'address'>) => string;
}

export const SALE: PromisedLimit = {
  limit: 10,
  counts: 'orders of all customers',
  kind: 'order',
  budgetOf: () => 'all',
};
export const PER_CUSTOMER: PromisedLimit = {
  limit: 3,
  counts: 'orders of one customer',
  kind: 'order',
  budgetOf: ({ customer }) => customer,
};
export const PER_ADDRESS: PromisedLimit = {
  limit: 5,
  counts: 'log-ins from one address',
  kind: 'log-in',
  budgetOf: ({ address }) => address,
};
export const PROMISES: readonly PromisedLimit[] = [SALE, PER_CUSTOMER, PER_ADDRESS];
