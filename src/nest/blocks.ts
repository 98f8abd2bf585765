import { logName, type Charge } from '../core/charge.ts';
import { within } from '../core/deadline.ts';
import type { Budget, Decision, Denied, Preview } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore } from '../core/rate-limit-store.ts';
import { blockChargesOf, type BlockCharges } from './block-charges.ts';
import { denialOfRules, isOf, refusalIn } from './block-denial.ts';
import type { RuleCharge } from './rule-charges.ts';

interface Parts {
  readonly store: RateLimitStore;
  readonly nextId: () => string;
  /** Milliseconds that all store calls of a decision may take together, where the request does not say. */
  readonly deadlineMs: number;
}

/**
 * Decides the calls of rules that block who was refused too often, by charges like any other. Each call asks, in the
 * same step, the log of the block whether it is free. Each refusal that is not the block's takes a unit of the log of
 * refusals, if there is no block, and whoever finds no unit left there begins the block. So no refusal is lost or counted
 * twice, however many processes count; and refusals that the process remembers are counted like those of the store.
 */
export class Blocks {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** As the store, in terms of the charges of the request. @param charged what the request charges, with its rules */
  consume(request: ConsumeRequest, charged: readonly RuleCharge[]): Promise<Decision> {
    return charged.some(mayBlock) ? this.#consume(request, charged) : this.#parts.store.consume(request);
  }

  /** The same, but a refusal does not count. */
  async consumeUncounted(request: ConsumeRequest, charged: readonly RuleCharge[]): Promise<Decision> {
    const blocking = blockingOf(charged);
    const decision = await this.#probe(request, blocking);
    return decision.allowed ? decision : inTermsOfRules(decision, request.charges, blocking);
  }

  /** As the store: counts nothing. */
  async peek(charged: readonly RuleCharge[]): Promise<Preview> {
    const charges = charged.map(({ charge }) => charge);
    const blocking = blockingOf(charged);
    const preview = await this.#parts.store.peek([...charges, ...blocking.map(({ probe }) => probe)]);
    if (preview.allowed) return { ...preview, budgets: ofCharges(charges, preview.budgets) };
    return inTermsOfRules(preview, charges, blocking);
  }

  /** The refusal of a block, where there is one; otherwise what this gives, of which no refusal counts. */
  unlessBlocked<D extends Preview>({ rule, charge }: RuleCharge, ask: () => Promise<D>): Promise<D | Denied> {
    return rule.block ? this.#blockOr({ rule, charge }, ask) : ask();
  }

  /** Every log of this charge: its own, that of its block and that of its refusals. */
  logsOf(charged: RuleCharge): readonly Charge[] {
    return [charged.charge, ...blockingOf([charged]).flatMap(({ beginning, refusal }) => [beginning, refusal])];
  }

  async #blockOr<D extends Preview>(charged: RuleCharge, ask: () => Promise<D>): Promise<D | Denied> {
    const preview = await this.peek([charged]);
    return preview.allowed || !preview.refusedBy[0].isBlock ? ask() : preview;
  }

  async #consume(request: ConsumeRequest, charged: readonly RuleCharge[]): Promise<Decision> {
    const { charges, withinMs = this.#parts.deadlineMs } = request;
    const endsAt = performance.now() + withinMs;
    const blocking = blockingOf(charged);
    const decision = await this.#probe(request, blocking);
    if (decision.allowed) return decision;
    const denied = await this.#withOwnWaits(decision, blocking, endsAt);
    // Each log of refusals by itself: what one rule finds must not keep another from counting.
    const counts = new Map<string, Promise<number | undefined>>();
    const blockedMsOf = (each: BlockCharges): Promise<number | undefined> | number | undefined => {
      if (!isToCount(each, denied)) return blockedMsIn(denied, each);
      const name = logName(each.refusal);
      const count = counts.get(name) ?? this.#count(each, endsAt).catch(unlessUnavailable);
      counts.set(name, count);
      return count;
    };
    const found = blocking.map(async (each) => [each, await blockedMsOf(each)] as const);
    return denialOfRules(denied, charges, new Map(await Promise.all(found)));
  }

  /** Asks for the charges of the request and, in the same step, whether somebody is blocked. */
  async #probe(request: ConsumeRequest, blocking: readonly BlockCharges[]): Promise<Decision> {
    const { charges } = request;
    if (blocking.length === 0) return this.#parts.store.consume(request);
    const probed = [...charges, ...blocking.map(({ probe }) => probe)];
    const decision = await this.#parts.store.consume({ ...request, charges: probed });
    return decision.allowed ? { ...decision, budgets: ofCharges(charges, decision.budgets) } : decision;
  }

  /**
   * A block that this process remembers does not tell how long the rule's own budget refuses. Where the window is not
   * over before the block, the store has to say.
   */
  async #withOwnWaits(denied: Denied, blocking: readonly BlockCharges[], endsAt: number): Promise<Denied> {
    if (denied.decidedBy !== 'cache') return denied;
    const isUnknown = ({ own, probe, block }: BlockCharges): boolean =>
      block.forMs < own.windowMs && refusalIn(denied, probe) !== undefined && !refusalIn(denied, own);
    const unknown = blocking.filter(isUnknown).map(({ own }) => own);
    if (unknown.length === 0) return denied;
    try {
      const preview = await within(endsAt - performance.now(), this.#parts.store.peek(unknown), noTimeLeft);
      const budgets = [...denied.budgets, ...preview.budgets];
      return preview.allowed
        ? { ...denied, budgets }
        : { ...denied, budgets, refusedBy: [...denied.refusedBy, ...preview.refusedBy] };
    } catch {
      return denied;
    }
  }

  /** @returns how long the rule blocks from now on, milliseconds; undefined where it does not */
  async #count(each: BlockCharges, endsAt: number): Promise<number | undefined> {
    const counted = await this.#take([each.refusal, each.probe], endsAt);
    if (!counted.allowed) {
      if (counted.decidedBy === 'fence') return undefined;
      // A full log without a block: whoever filled it is about to begin the block, or failed to.
      return blockedMsIn(counted, each) ?? this.#begin(each, endsAt);
    }
    const refusals = counted.budgets.find((budget) => isOf(each.refusal, budget));
    return refusals?.remaining === 0 ? this.#begin(each, endsAt) : undefined;
  }

  async #begin(each: BlockCharges, endsAt: number): Promise<number | undefined> {
    const { block, beginning, refusal } = each;
    const begun = await this.#take([beginning], endsAt);
    if (!begun.allowed) return begun.decidedBy === 'fence' ? undefined : begun.retryAfterMs;
    // Refusals lead to one block. Where it outlasts them, they are gone at its end anyway; and none comes before.
    if (block.forMs < block.withinMs) this.#parts.store.reset([refusal]).catch(() => undefined);
    return begun.budgets[0]?.resetAfterMs;
  }

  #take(charges: readonly Charge[], endsAt: number): Promise<Decision> {
    const { store, nextId } = this.#parts;
    return store.consume({ id: nextId(), charges, withinMs: endsAt - performance.now() });
  }
}

const mayBlock = ({ rule }: RuleCharge): boolean => rule.block !== undefined;

const blockingOf = (charged: readonly RuleCharge[]): readonly BlockCharges[] =>
  charged.flatMap((each) => blockChargesOf(each) ?? []);

/** Where the rule refused by its own budget. What a fence refuses is nobody's fault. */
const isToCount = (each: BlockCharges, denied: Denied): boolean =>
  denied.decidedBy !== 'fence' && blockedMsIn(denied, each) === undefined && refusalIn(denied, each.own) !== undefined;

/** The refusal stands; its count is as much as the failure policy could do. */
function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof StoreUnavailableError)) throw error;
}

const noTimeLeft = (): Error => new Error('no time is left to ask how long the budget itself refuses');

/** How long a rule blocks by what the store found, milliseconds; undefined where it does not. */
const blockedMsIn = (denied: Denied, { probe }: BlockCharges): number | undefined =>
  refusalIn(denied, probe)?.retryAfterMs;

const inTermsOfRules = (denied: Denied, charges: readonly Charge[], blocking: readonly BlockCharges[]): Denied =>
  denialOfRules(denied, charges, new Map(blocking.map((each) => [each, blockedMsIn(denied, each)])));

/** Without those of the logs that blocks are made of. */
const ofCharges = (charges: readonly Charge[], budgets: readonly Budget[]): readonly Budget[] =>
  budgets.filter((budget) => charges.some((charge) => isOf(charge, budget)));
