import type { Party } from './visit.ts';

/** A request that is going to be sent; `at` counts milliseconds since the sale opened. */
export interface Click {
  readonly at: number;
  readonly kind: 'order' | 'log-in';
  readonly by: Party;
  readonly customer: Customer;
}

export interface Customer {
  readonly phone: string;
  readonly address: string;
}

export const SALE_MS = 22_000;
export const CROWD = 40;

/** As many households of five as log-in lets in at once. */
export const crowd: readonly Customer[] = Array.from({ length: CROWD }, (_, i) => ({
  phone: String(13_800_000_000 + i),
  address: `203.0.113.${1 + Math.floor(i / 5)}`,
}));
export const bot: Customer = { phone: '13900000000', address: '198.51.100.7' };
/** Tries codes for somebody else's phone. */
const guesser: Customer = { phone: '13800000000', address: '198.51.100.99' };

/** The moments at which a fixed window of 10 s starts anew: the crowd comes just before and just after each. */
const EDGES_MS = [10_000, 20_000];
const NEAR_EDGE_MS = 100;

const moments = (from: number, to: number, every: number): readonly number[] =>
  Array.from({ length: Math.ceil((to - from) / every) }, (_, i) => from + i * every);

/** The whole sale: the same clicks at the same moments every time. */
export function clicksOfTheSale(): readonly Click[] {
  const order = (by: Party, at: number, customer: Customer): Click => ({ at, kind: 'order', by, customer });
  const member = (i: number): Customer => crowd[i % CROWD]!;
  const early = [1_000, 1_500].map((at, i) => order('crowd', at, member(i)));
  const bursts = EDGES_MS.flatMap((edge) => [edge - NEAR_EDGE_MS, edge + NEAR_EDGE_MS]).flatMap((at) =>
    crowd.map((customer) => order('crowd', at, customer)),
  );
  const stragglers = moments(10_600, SALE_MS, 250).map((at, i) => order('crowd', at, member(i)));
  const hammering = moments(2_000, SALE_MS, 50).map((at) => order('bot', at, bot));
  const guesses = moments(500, SALE_MS, 200).map((at): Click => ({
    at,
    kind: 'log-in',
    by: 'guesser',
    customer: guesser,
  }));
  return [...early, ...bursts, ...stragglers, ...hammering, ...guesses].sort((a, b) => a.at - b.at);
}
