import { logName } from '../core/charge.ts';
import type { Allowed } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore } from '../core/rate-limit-store.ts';
import { describeError } from '../core/show.ts';
import type { Blocks } from './blocks.ts';
import type { DecisionStream } from './decision-stream.ts';
import type { RuleCharge } from './rule-charges.ts';
import type { RuleLog } from './rule-log.ts';

/** What a call took in shadow. */
export interface ShadowTaken {
  readonly request: ConsumeRequest;
  readonly decision: Allowed;
  readonly charged: readonly RuleCharge[];
}

interface Parts {
  readonly store: RateLimitStore;
  readonly blocks: Blocks;
  readonly decisions: DecisionStream;
  readonly log: RuleLog;
  readonly nextId: () => string;
}

/** Judges what rules in shadow charge, and tells what they would have refused. It never fails and refuses nobody. */
export class ShadowJudge {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param charged of one key @returns undefined where nothing was taken */
  async consume(charged: readonly RuleCharge[]): Promise<ShadowTaken | undefined> {
    const { blocks, decisions, log, nextId } = this.#parts;
    try {
      const request = { id: nextId(), charges: charged.map(({ charge }) => charge) };
      const { decision } = await decisions.observe(charged, () => blocks.consume(request, charged));
      if (decision.allowed) return { request, decision, charged };
      const isRefused = ({ charge }: RuleCharge): boolean =>
        decision.refusedBy.some(
          ({ limit, ...log }) => limit === charge.limit && logName({ ...log, limit }) === logName(charge),
        );
      const refusing = new Set(charged.filter(isRefused).map(({ rule }) => rule));
      for (const rule of refusing) log.warn(rule, 'in shadow, it would have refused a request');
    } catch (error) {
      // A store that is out of order is told of for itself.
      if (!(error instanceof StoreUnavailableError)) {
        log.error(charged[0]!.rule, `cannot be judged in shadow: ${describeError(error)}`);
      }
    }
    return undefined;
  }

  /** Best effort, as with everything that is given back. */
  async giveBack({ request: { id, charges }, decision: { receipt } }: ShadowTaken): Promise<void> {
    await this.#parts.store.refund({ id, charges, receipt }).catch(() => undefined);
  }
}

/** What is charged on one key is judged together, as it is for enforced rules; the rest each by itself. */
export function byKey(charged: readonly RuleCharge[]): readonly (readonly RuleCharge[])[] {
  const groups = new Map<string, RuleCharge[]>();
  for (const ruleCharge of charged) {
    const group = groups.get(ruleCharge.charge.key);
    if (group) group.push(ruleCharge);
    else groups.set(ruleCharge.charge.key, [ruleCharge]);
  }
  return [...groups.values()];
}
