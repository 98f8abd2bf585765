import type { Party } from './visit.ts';

/** A request that somebody is going to send. */
export interface Click {
  readonly kind: 'order' | 'log-in';
  readonly by: Party;
  readonly customer: Customer;
}

/** All that is sent at once; `at` counts milliseconds since the sale opened. */
export interface Moment {
  readonly at: number;
  readonly clicks: readonly Click[];
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

/** The whole sale: the same clicks at the same moments every time. */
export function momentsOfTheSale(): readonly Moment[] {
  const ofCrowd = (customer: Customer): Click => ({ kind: 'order', by: 'crowd', customer });
  const earlyBirds = [1_000, 1_500].map((at, i) => ({ at, clicks: [ofCrowd(crowd[i]!)] }));
  const rushes = EDGES_MS.flatMap((edge) => [edge - NEAR_EDGE_MS, edge + NEAR_EDGE_MS]);
  const whoeverIsLeft = (i: number): Click => ofCrowd(crowd[i % CROWD]!);
  return [
    ...earlyBirds,
    ...rushes.map((at) => ({ at, clicks: crowd.map(ofCrowd) })),
    ...every(250, 10_600, whoeverIsLeft),
    ...every(50, 2_000, () => ({ kind: 'order', by: 'bot', customer: bot })),
    ...every(200, 500, () => ({ kind: 'log-in', by: 'guesser', customer: guesser })),
  ];
}

/** One click each so many milliseconds, until the sale ends. */
function every(ms: number, from: number, click: (i: number) => Click): readonly Moment[] {
  return Array.from({ length: Math.ceil((SALE_MS - from) / ms) }, (_, i) => ({
    at: from + i * ms,
    clicks: [click(i)],
  }));
}
