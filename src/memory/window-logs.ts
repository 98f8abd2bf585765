import { assertCallId, assertCharges, layoutOf, logName, mergeCharges, type Charge } from '../core/charge.ts';
import { budgetsOf, denialOf, readingsOfCharges, type Decision, type Preview, type Reading } from '../core/decision.ts';
import { StoreFullError } from '../core/errors.ts';
import type { ConsumeRequest, RefundRequest } from '../core/rate-limit-store.ts';
import { sliceAt } from '../core/slices.ts';
import { afterCharge } from '../core/sliding-window.ts';
import { WindowLog } from '../core/window-log.ts';
import { Climbs } from './climbs.ts';
import type { WindowLogsOptions } from './window-logs-options.ts';

/** As an entry of a log; calls have ids without the signs. */
const partName = (part: number): string => `@${part}`;
const sliceName = (slice: number): string => `~${slice}`;

/** Whole microseconds, rounded up. */
const micros = (ms: number): number => Math.ceil(ms * 1_000);

/**
 * The logs of many keys, decided at once: what {@link MemoryStore} is made of. Those of one window expire in the order in
 * which they stand, and every call sweeps a few away.
 * When `maxKeys` are live, it throws {@link StoreFullError} for those that are not tracked and that clients choose.
 */
export class WindowLogs {
  readonly #maxKeys: number;
  readonly #now: () => number;
  // By length of window, so that the logs of each stand in the order in which they expire.
  readonly #logsByWindow = new Map<number, Map<string, WindowLog>>();
  readonly #climbs: Climbs;
  #size = 0;

  /** @throws TypeError when `maxKeys` is no positive whole number */
  constructor({ maxKeys = 100_000, now = () => performance.now() }: WindowLogsOptions = {}) {
    if (!Number.isInteger(maxKeys) || maxKeys < 1) throw new TypeError(`maxKeys must be 1 or more, got ${maxKeys}`);
    this.#maxKeys = maxKeys;
    this.#climbs = new Climbs(maxKeys);
    this.#now = now;
  }

  /** How many keys are tracked, live or not yet swept. */
  get size(): number {
    return this.#size;
  }

  consume({ id, charges }: ConsumeRequest): Decision {
    assertCallId(id);
    assertCharges(charges);
    const now = this.#now();
    const { merged, places } = mergeCharges(charges);
    for (const { windowMs } of merged) this.#sweep(windowMs, now);
    this.#assertRoom(merged, now);
    const logs = merged.map((charge) => this.#find(charge));
    logs.forEach((log, i) => log?.trim(now - merged[i]!.windowMs));

    const readings = merged.map((charge, i) => this.#climbs.read(charge, logs[i], now));
    const ofCharges = (found: readonly Reading[]) => readingsOfCharges(charges, { merged, places }, found);
    const isRepeated = logs.some((log, i) => log?.holds(id, now - merged[i]!.windowMs));
    if (isRepeated) return { allowed: true, id, budgets: budgetsOf(charges, ofCharges(readings)) };
    const denial = denialOf(charges, ofCharges(readings));
    if (denial) return denial;
    const at = micros(now);
    const after = merged.map((charge, i) => {
      if (charge.cost > 0) this.#add(id, charge, now);
      return this.#climbs.admitted(charge, afterCharge(charge, readings[i]!, at), now);
    });
    const isReceiptNeeded = merged.some((charge) => layoutOf(charge) === 'compact');
    return {
      allowed: true,
      id,
      budgets: budgetsOf(charges, ofCharges(after)),
      ...(isReceiptNeeded && { receipt: String(at) }),
    };
  }

  peek(charges: readonly Charge[]): Preview {
    assertCharges(charges);
    const now = this.#now();
    const { merged, places } = mergeCharges(charges);
    const found = merged.map((charge) => this.#climbs.read(charge, this.#find(charge), now));
    const readings = readingsOfCharges(charges, { merged, places }, found);
    return denialOf(charges, readings) ?? { allowed: true, budgets: budgetsOf(charges, readings) };
  }

  /** Without a receipt, only exact logs know what to give back. */
  refund({ id, charges, receipt }: RefundRequest): void {
    assertCallId(id);
    assertCharges(charges);
    for (const charge of mergeCharges(charges).merged) {
      const log = this.#find(charge);
      if (!log || charge.cost === 0) continue;
      if (log.has(id)) log.remove(id);
      else if (Number(receipt) >= micros(log.createdAt)) {
        log.takeOnce(id, sliceName(sliceAt(Number(receipt), charge.windowMs).number), charge.cost);
      }
      if (log.isEmpty) this.#forget(charge);
    }
  }

  reset(charges: readonly Charge[]): void {
    assertCharges(charges);
    for (const charge of charges) this.#forget(charge);
    this.#climbs.forget(charges);
  }

  /** Its limit climbs: the charge was admitted elsewhere. */
  warm(charge: Charge): void {
    this.#climbs.admit(charge, charge.cost, this.#now());
  }

  /** Whether anything is counted in the window of this charge that ends now. */
  counts(charge: Charge): boolean {
    if (this.#size === 0) return false;
    const now = this.#now();
    this.#sweep(charge.windowMs, now);
    const log = this.#find(charge);
    return log !== undefined && log.newestAt > now - charge.windowMs;
  }

  /** Whether the log of this charge holds a living unit of this call. */
  holds(charge: Charge, id: string): boolean {
    return this.#find(charge)?.holds(id, this.#now() - charge.windowMs) ?? false;
  }

  /** Whether the log of this charge has an entry of this call, living or not. */
  records(charge: Charge, id: string): boolean {
    return this.#find(charge)?.has(id) ?? false;
  }

  /** Whether the key is tracked, or may be. */
  hasRoomFor(charge: Charge): boolean {
    if (this.#find(charge) !== undefined || charge.isAlwaysTracked === true) return true;
    return this.#fits(1, this.#now());
  }

  /** Counts units that were admitted elsewhere at this moment, not before anything that is counted already. */
  include(
    charge: Charge,
    { part, at, units }: { readonly part: number; readonly at: number; readonly units: number },
  ): void {
    this.#edit(charge, this.#now(), (log) => log.addTo(partName(part), at, units));
  }

  /** Takes back units of the charge that were included as of this part. */
  exclude(charge: Charge, part: number): void {
    this.#find(charge)?.takeFrom(partName(part), charge.cost);
  }

  #find(charge: Charge): WindowLog | undefined {
    return this.#logsByWindow.get(charge.windowMs)?.get(logName(charge));
  }

  #add(id: string, charge: Charge, now: number): void {
    const { windowMs, cost } = charge;
    if (layoutOf(charge) === 'exact') return this.#edit(charge, now, (log) => log.add(id, now, cost));
    const { number, endsAt } = sliceAt(micros(now), windowMs);
    this.#edit(charge, now, (log) => log.addTo(sliceName(number), Math.max(now, endsAt / 1_000), cost));
  }

  /** Adds to a log, which moves to the end of its window's logs: it is now the last of them to expire. */
  #edit(charge: Charge, now: number, edit: (log: WindowLog) => void): void {
    let logs = this.#logsByWindow.get(charge.windowMs);
    if (!logs) this.#logsByWindow.set(charge.windowMs, (logs = new Map()));
    const name = logName(charge);
    const log = logs.get(name) ?? new WindowLog(now);
    if (!logs.delete(name)) this.#size++;
    edit(log);
    logs.set(name, log);
  }

  #forget(charge: Charge): void {
    const logs = this.#logsByWindow.get(charge.windowMs);
    if (logs?.delete(logName(charge))) this.#size--;
    if (logs?.size === 0) this.#logsByWindow.delete(charge.windowMs);
  }

  /** Forgets the oldest logs of this window that expired: two, so that sweeping outruns growth, or all of them. */
  #sweep(windowMs: number, now: number, most = 2): void {
    const logs = this.#logsByWindow.get(windowMs);
    if (!logs) return;
    for (const [name, log] of logs) {
      if (most-- === 0 || log.newestAt > now - windowMs) break;
      logs.delete(name);
      this.#size--;
    }
    if (logs.size === 0) this.#logsByWindow.delete(windowMs);
  }

  /** Whether so many more keys may be tracked, when those that expired are forgotten. */
  #fits(more: number, now: number): boolean {
    if (this.#size + more <= this.#maxKeys) return true;
    for (const windowMs of this.#logsByWindow.keys()) this.#sweep(windowMs, now, Infinity);
    return this.#size + more <= this.#maxKeys;
  }

  #assertRoom(charges: readonly Charge[], now: number): void {
    const isNew = (charge: Charge): boolean => charge.cost > 0 && !charge.isAlwaysTracked && !this.#find(charge);
    const untracked = new Set(charges.filter(isNew).map(logName));
    if (untracked.size === 0) return;
    if (!this.#fits(untracked.size, now)) throw new StoreFullError(untracked, this.#maxKeys);
  }
}
