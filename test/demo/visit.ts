/** One request to the shop and what came of it. Times are milliseconds since the sale opened. */
export interface Visit {
  readonly kind: 'order' | 'log-in';
  readonly by: Party;
  /** The phone number that identifies the customer. */
  readonly customer: string;
  readonly address: string;
  /** The decision was made at some moment from `sentAt` to `answeredAt`. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly outcome: Outcome;
  /** The HTTP status, or what went wrong instead. */
  readonly answer: string;
}

/** Who comes to the sale. */
export type Party = 'crowd' | 'bot' | 'guesser';

/** `undecided`: the shop's store did not answer in time, status 503. `failed`: any other answer. */
export type Outcome = 'admitted' | 'refused' | 'undecided' | 'failed';

export const isAdmitted = ({ outcome }: Visit): boolean => outcome === 'admitted';
