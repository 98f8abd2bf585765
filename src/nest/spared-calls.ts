import type { Allowed } from '../core/decision.ts';
import type { LimitSwitch } from './limit-switch.ts';
import type { RuleCharge } from './rule-charges.ts';
import type { ShadowJudge, ShadowTaken } from './shadow-judge.ts';

interface Parts {
  readonly judge: ShadowJudge;
  readonly limits: LimitSwitch;
}

/** Calls of the service that nothing is enforced for: limits are off, or the rule is in shadow. */
export class SparedCalls {
  readonly #parts: Parts;
  /** What calls took in shadow, when it is known. */
  readonly #taken = new WeakMap<Allowed, Promise<ShadowTaken | undefined>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Undefined for a call that is to be decided. @param more what its answer tells besides */
  answer<More extends object>(
    charged: readonly [RuleCharge, ...RuleCharge[]],
    id: string,
    more?: More,
  ): (Allowed & More) | undefined {
    const { judge, limits } = this.#parts;
    const { isOn } = limits;
    if (isOn && !charged[0].isShadow) return undefined;
    const allowed = { allowed: true, id, budgets: [], ...more! } as const;
    if (isOn) this.#taken.set(allowed, judge.consume(charged));
    return allowed;
  }

  /** Waits for what the call took in shadow, if it did. */
  async giveBack(decision: Allowed): Promise<void> {
    const taken = await this.#taken.get(decision);
    if (taken) await this.#parts.judge.giveBack(taken);
  }
}
