import { roomFor, type Charge } from '../core/charge.ts';
import { denialBy, refusalOf, type Allowed, type Decision, type Denied } from '../core/decision.ts';
import { AskAllowance } from './ask-allowance.ts';
import type { ClosedBudget } from './closed-budget.ts';
import type { Moments } from './moments.ts';
import { WaitingLine, type WaitingCall } from './waiting-line.ts';

/** A call in the queue, and how it is answered. */
export interface QueuedCall extends WaitingCall {
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: unknown) => void;
}

export interface CallQueueParts {
  /** Asks the store, in a call of its own id. */
  readonly ask: (charge: Charge) => Promise<Decision>;
  /** Gives back what nobody waits for any more; never rejects. */
  readonly giveBack: (unwanted: Allowed) => Promise<void>;
  readonly moments: Moments;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Told when nobody waits and nothing is under way. */
  readonly onIdle: () => void;
}

/** The longest jitter: a hundredth of the window, but not longer than it takes to tell many processes apart. */
const JITTER_OF_WINDOW = 0.01;
const LONGEST_JITTER_MS = 100;
/** Sums of moments are off by parts of a millionth. */
const ROUNDING_MS = 1e-6;

/**
 * Those of this process that wait for one budget, first come first served. The first one asks the store. A refusal tells
 * when there is room: until then, and a little longer so that not all processes come at once, nobody asks. An admission
 * tells how much room is left: so many of the next ask together. Admissions of equal cost are alike, so the first that
 * comes goes to the first that waits.
 */
export class CallQueue {
  readonly #parts: CallQueueParts;
  readonly #line = new WaitingLine<QueuedCall>();
  readonly #allowance = new AskAllowance();
  #underWay = 0;
  /** Units, as the answers of this round tell; Infinity where they do not. */
  #room = 0;
  #closed: ClosedBudget | undefined;
  #wakeAt = Infinity;
  #stopWaking: (() => void) | undefined;

  constructor(parts: CallQueueParts) {
    this.#parts = parts;
  }

  /** Calls that wait. */
  get length(): number {
    return this.#line.length;
  }

  join(call: QueuedCall): void {
    if (this.#stopWaking) {
      const turnAt = this.#turnAfter(this.#line.units + call.charge.cost, call.charge);
      if (turnAt > call.patientUntil) return call.resolve(this.#remembered(call, turnAt));
    }
    this.#line.add(call);
    if (!this.#stopWaking) this.#askNext();
    else if (call.patientUntil < this.#wakeAt) this.#wake(Math.max(this.#closed!.opensAt, call.patientUntil));
  }

  /** What it was admitted for meanwhile goes to the next, or is given back. */
  leave(call: QueuedCall): void {
    if (!this.#line.remove(call) || !this.#stopWaking) return;
    const { first } = this.#line;
    if (first && roomFor(first.charge) >= this.#closed!.units) return;
    this.askAgain();
  }

  /** How the call is refused without a place in the queue: as if it stood at the end. */
  denialAtEnd(call: WaitingCall): Denied {
    // It may have been made for this call.
    this.#endIfIdle();
    return this.#remembered(call, this.#turnAfter(this.#line.units + call.charge.cost, call.charge));
  }

  /** What the refusal told does not hold any more. */
  askAgain(): void {
    if (!this.#stopWaking) return;
    this.#stop();
    this.#askNext();
  }

  /** Nobody waits any longer: all that do get this error. */
  end(error: unknown): void {
    this.#stop();
    for (const { reject } of this.#line.takeAll()) reject(error);
    this.#endIfIdle();
  }

  readonly #askNext = (): void => {
    this.#stopWaking = undefined;
    const { first } = this.#line;
    if (this.#underWay > 0) return;
    if (!first) return this.#endIfIdle();
    const { charge } = first;
    const most = this.#allowance.most(Math.floor(this.#room / roomFor(charge)));
    this.#underWay = this.#line.countAlike(most);
    this.#room = Infinity;
    this.#closed = undefined;
    for (let i = this.#underWay; i > 0; i--) void this.#ask(charge);
  };

  async #ask(charge: Charge): Promise<void> {
    try {
      const decision = await this.#parts.ask(charge);
      if (decision.allowed) await this.#admitted(decision, charge);
      else this.#refused(decision, charge);
    } catch (error) {
      this.#room = 0;
      this.#line.takeFirst(charge.cost)?.reject(error);
    }
    this.#underWay--;
    if (this.#underWay > 0) return;
    if (this.#closed) this.#waitForRoom(this.#closed);
    else this.#askNext();
  }

  #admitted(decision: Allowed, { cost }: Charge): Promise<void> | undefined {
    this.#allowance.earn();
    for (const { remaining } of decision.budgets) this.#room = Math.min(this.#room, remaining);
    const call = this.#line.takeFirst(cost);
    if (!call) return this.#parts.giveBack(decision);
    call.resolve(decision);
    return undefined;
  }

  #refused(denied: Denied, charge: Charge): void {
    const units = roomFor(charge);
    this.#allowance.spend();
    this.#room = 0;
    const [{ limit, windowMs, remaining, resetAfterMs, retryAfterMs, isBlock }] = denied.refusedBy;
    if (retryAfterMs === undefined || isBlock) return this.#line.takeFirst(charge.cost)?.resolve(denied);
    const now = this.#parts.moments.now();
    const [opensAt, wholeAt] = [now + retryAfterMs, now + resetAfterMs];
    this.#closed = { units, limit, windowMs, opensAt, remaining, wholeAt, decidedBy: denied.decidedBy };
  }

  #waitForRoom({ units, opensAt, decidedBy }: ClosedBudget): void {
    const { first } = this.#line;
    // For less there may be room.
    if (!first || roomFor(first.charge) < units) return this.#askNext();
    for (const { call, turnAt } of this.#line.takeImpatient((sum) => this.#turnAfter(sum, first.charge))) {
      call.resolve(this.#denial(call, turnAt, decidedBy));
    }
    const next = this.#line.first;
    if (!next || roomFor(next.charge) < units) return this.#askNext();
    const longestMs = Math.min(next.charge.windowMs * JITTER_OF_WINDOW, LONGEST_JITTER_MS);
    const jitteredAt = opensAt + this.#parts.random() * longestMs;
    this.#wake(Math.max(opensAt, Math.min(jitteredAt, this.#line.leastPatience)));
  }

  /**
   * The earliest moment at which the last of so many units can be taken, if nothing is given back: the first when there
   * is room again, and the limit in each window from then on.
   */
  #turnAfter(units: number, charge: Charge): number {
    // Of the rule in force, where a refusal told it.
    const { limit, windowMs } = this.#closed ?? charge;
    const opensAt = this.#closed?.opensAt ?? this.#parts.moments.now();
    return opensAt + Math.max(0, Math.ceil(units / limit) - 1) * windowMs;
  }

  /** Of one that nobody asked the store for. */
  #remembered(call: WaitingCall, turnAt: number): Denied {
    return this.#denial(call, turnAt, this.#closed?.decidedBy ?? 'cache');
  }

  #denial({ charge }: WaitingCall, turnAt: number, decidedBy: Denied['decidedBy']): Denied {
    const now = this.#parts.moments.now();
    const { remaining = 0, wholeAt = now + charge.windowMs } = this.#closed ?? {};
    const retryAfterMs = Math.max(1, Math.ceil(turnAt - now - ROUNDING_MS));
    const resetAfterMs = Math.max(retryAfterMs, Math.ceil(wholeAt - now - ROUNDING_MS));
    const refusal = refusalOf(charge, { remaining, resetAfterMs }, retryAfterMs);
    const denied = denialBy([refusal], [refusal])!;
    return decidedBy ? { ...denied, decidedBy } : denied;
  }

  #wake(moment: number): void {
    this.#stop();
    this.#wakeAt = moment;
    this.#stopWaking = this.#parts.moments.at(moment, this.#askNext);
  }

  #stop(): void {
    this.#stopWaking?.();
    this.#stopWaking = undefined;
  }

  #endIfIdle(): void {
    if (this.#underWay === 0 && this.#line.length === 0) this.#parts.onIdle();
  }
}
