import { isAffordable, layoutOf, mergeCharges, roomFor, type Charge } from '../core/charge.ts';
import type { Decision } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest } from '../core/rate-limit-store.ts';
import type { Asked } from './script-calls.ts';

/** The work of one call, unless one request alone is more: some 350 µs in which the server does nothing else. */
const MOST_WORK = 64;
/** Entries that are written in the time that one charge takes by itself. */
const ENTRIES_PER_CHARGE = 4;
/** Fewer requests are not sent in halves. */
const LEAST_HALF = 16;
/** Calls that somebody waits for at most: so many for each millisecond that an answer takes, within these. */
const CALLS_PER_MS = 4;
const LEAST_CALLS = 4;
const MOST_CALLS = 32;

/** Sends one call. @returns for each request its decision, or why it has none */
export type SendCall = (requests: readonly Asked[]) => Promise<readonly (Decision | Error)[]>;

interface Waiting extends Asked {
  /** Milliseconds of this process: later, nobody waits for the answer. */
  readonly dueAt: number;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Decides the requests of one turn of the event loop in one call, in the order in which they came: a call costs the
 * server and both processes more than what it decides.
 */
export class CallBatcher {
  readonly #send: SendCall;
  #waiting: Waiting[] = [];
  /** The calls without a reply, and until when somebody waits for it: some clients never settle what they were asked. */
  readonly #underWay = new Map<readonly Waiting[], number>();
  #isScheduled = false;
  /** On a long way, calls that wait for a place would wait for nothing: the server is idle. */
  #mostCalls = LEAST_CALLS;

  constructor(send: SendCall) {
    this.#send = send;
  }

  decide(request: ConsumeRequest): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const dueAt = request.withinMs === undefined ? Infinity : performance.now() + request.withinMs;
      this.#waiting.push({ request, logs: mergeCharges(request.charges), dueAt, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(this.#onTurn);
    });
  }

  /** Does not send a request of this id that still waits: nobody waits for its answer any more. */
  withdraw(id: string): void {
    const isWithdrawn = ({ request }: Waiting): boolean => request.id === id;
    if (!this.#waiting.some(isWithdrawn)) return;
    for (const { reject } of this.#waiting.filter(isWithdrawn)) {
      reject(new StoreUnavailableError('timeout', 'Redis: the call was given back before it was sent'));
    }
    this.#waiting = this.#waiting.filter((each) => !isWithdrawn(each));
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    this.#sendWaiting();
  };

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#mayCall()) {
      const call = this.#nextCall();
      if (call.length > 0) void this.#sendCall(call);
    }
  }

  #mayCall(): boolean {
    if (this.#underWay.size < this.#mostCalls) return true;
    const now = performance.now();
    for (const [call, dueAt] of this.#underWay) if (dueAt < now) this.#underWay.delete(call);
    return this.#underWay.size < this.#mostCalls;
  }

  /** Those that nobody waits for any more are not sent. */
  #nextCall(): readonly Waiting[] {
    const now = performance.now();
    const call: Waiting[] = [];
    // An idle server begins with one half while this process makes the other.
    const mostRequests = this.#underWay.size > 0 ? Infinity : Math.max(LEAST_HALF, Math.ceil(this.#waiting.length / 2));
    let work = 0;
    let taken = 0;
    for (const each of this.#waiting) {
      const more = workOf(each);
      if (call.length >= mostRequests || (call.length > 0 && work + more > MOST_WORK)) break;
      taken++;
      if (each.dueAt < now) {
        each.reject(new StoreUnavailableError('timeout', 'Redis: the call had to wait too long to be sent'));
      } else {
        call.push(each);
        work += more;
      }
    }
    this.#waiting = taken === this.#waiting.length ? [] : this.#waiting.slice(taken);
    return call;
  }

  async #sendCall(call: readonly Waiting[]): Promise<void> {
    let dueAt = 0;
    for (const each of call) dueAt = Math.max(dueAt, each.dueAt);
    this.#underWay.set(call, dueAt);
    const sentAt = performance.now();
    try {
      const answers = await this.#send(call);
      const tookMs = performance.now() - sentAt;
      this.#mostCalls = Math.min(MOST_CALLS, Math.max(LEAST_CALLS, Math.round(tookMs * CALLS_PER_MS)));
      call.forEach(({ resolve, reject }, i) => {
        const answer = answers[i]!;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
    } catch (error) {
      for (const { reject } of call) reject(error as Error);
    }
    this.#underWay.delete(call);
    if (!this.#isScheduled) this.#sendWaiting();
  }
}

const workOf = ({ logs }: Asked): number => logs.merged.reduce((work, charge) => work + workOfCharge(charge), 0);

function workOfCharge(charge: Charge): number {
  const writesEntries = layoutOf(charge) === 'exact' && isAffordable(charge);
  return writesEntries ? 1 + Math.floor((roomFor(charge) - 1) / ENTRIES_PER_CHARGE) : 1;
}
