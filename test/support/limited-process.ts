import { logName, type Charge } from '../../src/core/charge.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { FailurePolicyStore } from '../../src/failure/failure-policy-store.ts';
import { LocalFallback } from '../../src/failure/local-fallback.ts';
import { StoreEvents } from '../../src/failure/store-events.ts';
import { FailingLink } from './failing-link.ts';
import type { Admission } from './oracle.ts';

interface Served {
  readonly id: string;
  readonly charges: readonly Charge[];
  readonly at: number;
  readonly receipt: string | undefined;
}

let calls = 0;

/** One process that decides by itself while its link to the store fails, and the record of what it served. */
export class LimitedProcess {
  readonly link: FailingLink;
  readonly store: FailurePolicyStore;
  readonly #now: () => number;
  #served: readonly Served[] = [];

  constructor(shared: RateLimitStore, now: () => number, instances = 1) {
    this.#now = now;
    this.link = new FailingLink(shared);
    this.store = new FailurePolicyStore(this.link, {
      onStoreError: 'local',
      events: new StoreEvents(() => undefined, now),
      local: new LocalFallback({ instances: () => instances, onFull: () => undefined, now }),
    });
  }

  async consume(charges: readonly Charge[]): Promise<Decision> {
    const id = `p${calls++}`;
    const at = this.#now();
    const decision = await this.store.consume({ id, charges });
    if (decision.allowed) this.#served = [...this.#served, { id, charges, at, receipt: decision.receipt }];
    return decision;
  }

  /** Gives back one of the calls that it served, if there is any. What the store answers does not matter. */
  async refund(which: number): Promise<void> {
    const call = this.#served[which % this.#served.length];
    if (!call) return;
    this.#served = this.#served.filter((other) => other !== call);
    await this.store.refund(call).catch(() => undefined);
  }

  /** What it took from this budget and did not give back. */
  admissions(budget: Charge): readonly Admission[] {
    return this.#served.flatMap(({ charges, at }) =>
      charges.filter((charge) => logName(charge) === logName(budget)).map(({ cost }) => ({ at, units: cost })),
    );
  }
}
