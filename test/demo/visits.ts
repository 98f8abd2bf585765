import type { Visit } from './visit.ts';

let customers = 0;

/** For tests: an admitted order of somebody new, decided at this moment, unless told otherwise. */
export const visit = (at: number, parts: Partial<Visit> = {}): Visit => ({
  kind: 'order',
  by: 'crowd',
  customer: `customer ${customers++}`,
  address: '203.0.113.1',
  sentAt: at,
  answeredAt: at,
  outcome: 'admitted',
  answer: 'status 200',
  ...parts,
});
