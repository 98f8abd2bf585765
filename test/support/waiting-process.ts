import { callIds } from '../../src/core/call-id.ts';
import type { Charge } from '../../src/core/charge.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { ConsumeRequest, RateLimitStore, RefundRequest } from '../../src/core/rate-limit-store.ts';
import { WaitingCalls, type Patience } from '../../src/waiting/waiting-calls.ts';
import type { ManualMoments } from './manual-moments.ts';

const PATIENT: Patience = { maxWaitMs: Infinity, maxQueued: 100_000, signal: undefined };
const nextId = callIds();

/** A store that is some milliseconds away, by the clock of the test. */
export class DistantStore {
  /** The moments at which it was asked. */
  readonly askedAt: number[] = [];
  readonly refunded: string[] = [];
  /** The next calls fail with this error, and reach no store. */
  failure: Error | undefined;
  readonly #inner: RateLimitStore;
  readonly #moments: ManualMoments;
  readonly #oneWayMs: () => number;

  constructor(inner: RateLimitStore, moments: ManualMoments, oneWayMs: () => number = () => 0) {
    this.#inner = inner;
    this.#moments = moments;
    this.#oneWayMs = oneWayMs;
  }

  async consume(request: ConsumeRequest): Promise<Decision> {
    this.askedAt.push(this.#moments.now());
    if (this.failure) throw this.failure;
    await this.#travel();
    const decision = await this.#inner.consume(request);
    await this.#travel();
    return decision;
  }

  async refund(request: RefundRequest): Promise<void> {
    this.refunded.push(request.id);
    await this.#travel();
    await this.#inner.refund(request);
  }

  async #travel(): Promise<void> {
    const ms = this.#oneWayMs();
    if (ms > 0) await new Promise<void>((resolve) => this.#moments.at(this.#moments.now() + ms, resolve));
  }
}

/** How a call that waited came out. */
export interface Outcome {
  readonly name: string;
  readonly at: number;
  readonly decision?: Decision;
  readonly error?: unknown;
}

/** The calls of one process that wait, and how they came out, in that order. */
export class WaitingProcess {
  readonly outcomes: Outcome[] = [];
  readonly calls: WaitingCalls;
  readonly #moments: ManualMoments;

  constructor(store: Pick<RateLimitStore, 'consume' | 'refund'>, moments: ManualMoments, random: () => number) {
    this.#moments = moments;
    this.calls = new WaitingCalls({ store, nextId, moments, random });
  }

  acquire(name: string, charge: Charge, patience: Partial<Patience> = {}): void {
    const note = (outcome: Pick<Outcome, 'decision' | 'error'>): void =>
      void this.outcomes.push({ name, at: this.#moments.now(), ...outcome });
    this.calls.acquire(charge, { ...PATIENT, ...patience }).then(
      (decision) => note({ decision }),
      (error: unknown) => note({ error }),
    );
  }

  /** The names of those that were admitted, in that order. */
  get admitted(): readonly string[] {
    return this.outcomes.filter(({ decision }) => decision?.allowed).map(({ name }) => name);
  }

  outcomeOf(name: string): Outcome | undefined {
    return this.outcomes.find((outcome) => outcome.name === name);
  }
}
