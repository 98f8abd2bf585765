import { MAX_COST } from '../core/charge.ts';
import type { Decision } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest } from '../core/rate-limit-store.ts';
import { asked, type Asked } from './script-calls.ts';

/** Charges, or units of them, that one call decides at most: some 350 µs in which the server does nothing else. */
const MOST_UNITS = 64;
/** Calls that somebody waits for at most. */
const MOST_UNDER_WAY = 4;

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

  constructor(send: SendCall) {
    this.#send = send;
  }

  decide(request: ConsumeRequest): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const dueAt = request.withinMs === undefined ? Infinity : performance.now() + request.withinMs;
      this.#waiting.push({ ...asked(request), dueAt, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(this.#onTurn);
    });
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
    if (this.#underWay.size < MOST_UNDER_WAY) return true;
    const now = performance.now();
    for (const [call, dueAt] of this.#underWay) if (dueAt < now) this.#underWay.delete(call);
    return this.#underWay.size < MOST_UNDER_WAY;
  }

  /** Those that nobody waits for any more are not sent. */
  #nextCall(): readonly Waiting[] {
    const now = performance.now();
    const call: Waiting[] = [];
    let units = 0;
    let taken = 0;
    for (const each of this.#waiting) {
      const more = unitsOf(each);
      if (call.length > 0 && units + more > MOST_UNITS) break;
      taken++;
      if (each.dueAt < now) {
        each.reject(new StoreUnavailableError('timeout', 'Redis: the call had to wait too long to be sent'));
      } else {
        call.push(each);
        units += more;
      }
    }
    this.#waiting = taken === this.#waiting.length ? [] : this.#waiting.slice(taken);
    return call;
  }

  async #sendCall(call: readonly Waiting[]): Promise<void> {
    this.#underWay.set(call, Math.max(...call.map(({ dueAt }) => dueAt)));
    try {
      const answers = await this.#send(call);
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

const unitsOf = ({ logs }: Asked): number =>
  logs.merged.reduce((units, { cost }) => units + Math.min(cost, MAX_COST), 0);
