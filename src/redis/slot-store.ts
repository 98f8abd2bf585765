import { assertCallId, assertCharges, logName, type Charge } from '../core/charge.ts';
import { denialBy, type Budget, type Decision, type Preview, type Refusal } from '../core/decision.ts';
import { RateLimitRequestError, StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../core/rate-limit-store.ts';
import { show } from '../core/show.ts';
import { hashTag } from './hash-slot.ts';

/** Milliseconds. */
const MARGIN_MS = 2;

/**
 * Splits each request by hash tag, since one script call on Redis Cluster reaches one slot. The parts are charged one
 * after another in the order of the request: whoever asks puts the narrowest identity first, so that a client over
 * its own limit cannot hold charges on a budget that all share. A part that refuses or fails gives back what the
 * earlier parts took. All parts share the time of the call: after it, nobody waits and nothing more is charged.
 */
export class SlotStore implements RateLimitStore {
  readonly #inner: RateLimitStore;

  constructor(inner: RateLimitStore) {
    this.#inner = inner;
  }

  async consume({ id, charges, withinMs = Infinity }: ConsumeRequest): Promise<Decision> {
    // The whole request, before any part of it is sent.
    assertCallId(id);
    assertCharges(charges);
    // A part that is sent while the call is given up would be charged after it was given back.
    const endsAt = performance.now() + withinMs - MARGIN_MS;
    const taken: RefundRequest[] = [];
    const judged = new Map<Charge, Budget>();
    const budgets = (): readonly Budget[] => charges.flatMap((charge) => judged.get(charge) ?? []);
    let memoryAgeMs: number | undefined;
    try {
      for (const part of bySlot(charges)) {
        if (performance.now() > endsAt) throw new StoreUnavailableError('timeout', 'no time left for the next slot');
        const decision = await this.#inner.consume({ id, charges: part, withinMs: endsAt - performance.now() });
        part.forEach((charge, i) => judged.set(charge, decision.budgets[i]!));
        if (!decision.allowed) {
          this.#giveBack(taken);
          return { ...decision, budgets: budgets() };
        }
        taken.push({ id, charges: part, receipt: decision.receipt });
        memoryAgeMs = least(memoryAgeMs, decision.memoryAgeMs);
      }
    } catch (error) {
      this.#giveBack(taken);
      throw error;
    }
    return {
      allowed: true,
      id,
      budgets: budgets(),
      receipt: receiptOf(taken),
      ...(memoryAgeMs !== undefined && { memoryAgeMs }),
    };
  }

  async peek(charges: readonly Charge[]): Promise<Preview> {
    const judged = new Map<Charge, Budget>();
    const refusals: Refusal[] = [];
    for (const part of bySlot(charges)) {
      const preview = await this.#inner.peek(part);
      part.forEach((charge, i) => judged.set(charge, preview.budgets[i]!));
      if (!preview.allowed) refusals.push(...preview.refusedBy);
    }
    const budgets = charges.map((charge) => judged.get(charge)!);
    return denialBy(refusals, budgets) ?? { allowed: true, budgets };
  }

  async refund(request: RefundRequest): Promise<void> {
    assertCharges(request.charges);
    const receiptFor = receiptsIn(request.receipt);
    const parts = bySlot(request.charges).map((charges) => ({ ...request, charges, receipt: receiptFor(charges) }));
    await Promise.all(parts.map((part) => this.#inner.refund(part)));
  }

  async reset(charges: readonly Charge[]): Promise<void> {
    await Promise.all(bySlot(charges).map((part) => this.#inner.reset(part)));
  }

  /** Best effort, and nobody waits for it: what cannot be given back leaves with the window. */
  #giveBack(taken: readonly RefundRequest[]): void {
    for (const part of taken) this.#inner.refund(part).catch(() => undefined);
  }
}

/** Of those that are known. */
const least = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** That of the only part, or those of all with what names each, since some of the charges may be given back alone. */
function receiptOf(parts: readonly RefundRequest[]): string | undefined {
  if (parts.length === 1) return parts[0]!.receipt;
  return JSON.stringify(parts.map(({ charges, receipt = '' }) => [tagOf(charges[0]!), receipt]));
}

/** @throws RateLimitRequestError for a receipt that {@link receiptOf} did not make */
function receiptsIn(receipt = ''): (part: readonly Charge[]) => string | undefined {
  if (!receipt.startsWith('[')) return () => receipt || undefined;
  try {
    const receipts = new Map(JSON.parse(receipt) as readonly (readonly [string, string])[]);
    return (part) => receipts.get(tagOf(part[0]!)) || undefined;
  } catch {
    throw new RateLimitRequestError(`receipt must be that of the decision, got ${show(receipt)}`);
  }
}

/** All keys have one prefix, so those that are equal without it are equal with it. */
const tagOf = (charge: Charge): string => hashTag(logName(charge));

function bySlot(charges: readonly Charge[]): readonly (readonly Charge[])[] {
  const parts = new Map<string, Charge[]>();
  for (const charge of charges) {
    const tag = tagOf(charge);
    const part = parts.get(tag);
    if (part) part.push(charge);
    else parts.set(tag, [charge]);
  }
  return [...parts.values()];
}
