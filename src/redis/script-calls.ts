import { layoutOf, type Charge, type mergeCharges } from '../core/charge.ts';
import { budgetsOf, denialOf, readingsOfCharges, type Decision, type Reading } from '../core/decision.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { ConsumeRequest } from '../core/rate-limit-store.ts';
import { leavesAfterMs } from '../core/slices.ts';

/** A request as consume.lua takes it: its charges merged into logs. */
export interface Asked {
  readonly request: ConsumeRequest;
  readonly logs: ReturnType<typeof mergeCharges>;
}

/** What the server tells of itself in an answer. */
export interface ServerMoment {
  /** The moment of the decisions, microseconds. */
  readonly decidedAt: number;
  /** The epoch, microseconds. */
  readonly began: number;
}

/** KEYS but for the epoch, and ARGV but for the moment, as the head of consume.lua describes them. */
export function encodeCall(
  requests: readonly Asked[],
  keyOf: (charge: Charge) => string,
): { readonly keys: string[]; readonly args: (string | number)[] } {
  const keys: string[] = [];
  const pairs: (string | number)[] = [];
  const plans = new Map<string, number>();
  for (const { request, logs } of requests) {
    let plan = '';
    let states: string[] | undefined;
    for (const charge of logs.merged) {
      keys.push(keyOf(charge));
      plan += `${plan && ' '}${argumentsOf(charge).join(' ')}`;
      if (charge.warmUp) (states ??= []).push(stateKeyOf(keyOf(charge)));
    }
    if (states) keys.push(...states);
    let number = plans.get(plan);
    if (number === undefined) plans.set(plan, (number = plans.size + 1));
    pairs.push(request.id, number);
  }
  return { keys, args: [plans.size, ...plans.keys(), ...pairs] };
}

/** A charge as the scripts take it. */
export const argumentsOf = (charge: Charge): readonly (string | number)[] => [
  charge.limit,
  charge.windowMs,
  charge.cost,
  charge.warmUp ? `${layoutOf(charge)}~${charge.warmUp.overMs}~${charge.warmUp.coldFactor}` : layoutOf(charge),
];

/** Where the climb of a log stands that has this key. Names of logs end in a digit, so that no state is taken for one. */
export const stateKeyOf = (keyOfLog: string): string => `${keyOfLog}~warm`;

/** How consume.lua begins the answer to a request. */
const REFUSED = 0;
const ADMITTED = 1;
const ADMITTED_BEFORE = 2;

/**
 * The reply of consume.lua: for each request its decision, or the text of the error that it failed with. Clients can be
 * set to give numbers as strings. Anything else is no decision, and never taken for one.
 *
 * @param memoryAgeOf how long the server has kept its data, milliseconds, where that is known
 * @throws StoreUnavailableError
 */
export function parseReply(
  reply: unknown,
  requests: readonly Asked[],
  memoryAgeOf: (moment: ServerMoment) => number | undefined = () => undefined,
): readonly (Decision | string)[] {
  const values = new Values(reply, 2);
  const moment = values.last();
  const ofCall = { decidedAt: moment.decidedAt, receipt: String(moment.decidedAt), memoryAgeMs: memoryAgeOf(moment) };
  const decisions = requests.map((each) => {
    const code = values.next();
    return typeof code === 'string' ? code : decisionOf(each, code, values, ofCall);
  });
  values.expectEnd();
  return decisions;
}

/** The reply of peek.lua: the readings of the charges. @throws StoreUnavailableError */
export function parsePeek(
  reply: unknown,
  charges: readonly Charge[],
  logs: ReturnType<typeof mergeCharges>,
): readonly Reading[] {
  const values = new Values(reply, 0);
  const verdict = values.number();
  const found = logs.merged.map(() => values.reading());
  values.expectEnd();
  const readings = readingsOfCharges(charges, logs, found);
  if (verdict !== (found.some(({ refusal }) => refusal) ? 0 : 1)) throw noDecision();
  return readings;
}

/** What the admissions of one call have in common. */
interface OfCall {
  readonly decidedAt: number;
  readonly receipt: string;
  readonly memoryAgeMs: number | undefined;
}

function decisionOf(
  { request, logs }: Asked,
  code: number,
  values: Values,
  { decidedAt, receipt, memoryAgeMs }: OfCall,
): Decision {
  if (code !== REFUSED && code !== ADMITTED && code !== ADMITTED_BEFORE) throw noDecision();
  const found = logs.merged.map((charge): Reading => {
    if (code !== ADMITTED) return values.reading();
    const remaining = values.number();
    // What took nothing leaves its log as it was.
    return { remaining, resetAfterMs: charge.cost === 0 ? values.number() : leavesAfterMs(charge, decidedAt) };
  });
  const { id, charges } = request;
  const readings = readingsOfCharges(charges, logs, found);
  if (code !== REFUSED) {
    const budgets = budgetsOf(charges, readings);
    // The moment of a call that was admitted before is not known any more.
    return { allowed: true, id, budgets, receipt: code === ADMITTED ? receipt : undefined, memoryAgeMs };
  }
  const denial = denialOf(charges, readings);
  if (!denial) throw noDecision();
  return denial;
}

/** The values of a reply, one after another. */
class Values {
  readonly #values: readonly unknown[];
  readonly #end: number;
  #next = 0;

  /** @param tail so many values stand at the end, apart from the others */
  constructor(reply: unknown, tail: number) {
    if (!Array.isArray(reply) || reply.length < tail) throw noDecision();
    this.#values = reply;
    this.#end = reply.length - tail;
  }

  /** The tail of consume.lua. */
  last(): ServerMoment {
    const [decidedAt, began] = this.#values.slice(this.#end).map(Number) as [number, number];
    if (!Number.isFinite(decidedAt) || !Number.isFinite(began)) throw noDecision();
    return { decidedAt, began };
  }

  /** A number, or a text that is none. */
  next(): number | string {
    const value = this.#values[this.#next++];
    if (typeof value === 'number') return value;
    if (typeof value !== 'string' || value === '') throw noDecision();
    const number = Number(value);
    return Number.isNaN(number) ? value : number;
  }

  number(): number {
    const value = this.next();
    if (typeof value !== 'number' || !Number.isFinite(value)) throw noDecision();
    return value;
  }

  /** What is left of a log and when, of a request that was not simply admitted. */
  reading(): Reading {
    const remaining = this.number();
    const resetAfterMs = this.number();
    const retryAfterMs = this.number();
    if (retryAfterMs === 0) return { remaining, resetAfterMs };
    return { remaining, resetAfterMs, refusal: retryAfterMs < 0 ? {} : { retryAfterMs } };
  }

  expectEnd(): void {
    if (this.#next !== this.#end) throw noDecision();
  }
}

const noDecision = (): StoreUnavailableError =>
  new StoreUnavailableError('unknown', 'Redis: the reply of the script is no decision');
