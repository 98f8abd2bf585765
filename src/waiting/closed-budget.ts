import type { Charge } from '../core/charge.ts';
import type { Denied } from '../core/decision.ts';

/** What a refusal told of a budget: there is no room now. Moments are milliseconds of this process. */
export interface ClosedBudget extends Pick<Charge, 'limit' | 'windowMs'> {
  /** For so many units there is no room before `opensAt`. */
  readonly units: number;
  readonly opensAt: number;
  readonly remaining: number;
  readonly wholeAt: number;
  readonly decidedBy: Denied['decidedBy'];
}
