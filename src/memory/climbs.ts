import { logName, type Charge } from '../core/charge.ts';
import { Climb, type WarmUpState } from '../core/climb.ts';
import type { Reading } from '../core/decision.ts';
import { readWindow } from '../core/sliding-window.ts';
import type { WarmUp } from '../core/warm-up.ts';
import { readWarmingWindow } from '../core/warming-window.ts';
import type { WindowLog } from '../core/window-log.ts';

type WarmingCharge = Charge & { readonly warmUp: WarmUp };

const isWarming = (charge: Charge): charge is WarmingCharge => charge.warmUp !== undefined;

/**
 * Where the climbs of many logs stand. They outlive the logs, and are forgotten when these are cold: those that take
 * equally long stand in the order of their last admission, and every call sweeps a few away. When too many are known, the
 * one that was not used for longest is forgotten, which makes its log cold: it admits less, never more. Those of keys that
 * no client chooses are kept.
 */
export class Climbs {
  readonly #most: number;
  /** By the milliseconds that they take; negative ones for keys that no client chooses. */
  readonly #byLength = new Map<number, Map<string, WarmUpState>>();
  #size = 0;

  /** @param most that are known at most */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** What is left of the log, by the limit that is reached at this moment. */
  read(charge: Charge, log: WindowLog | undefined, now: number): Reading {
    if (!isWarming(charge)) return readWindow(charge, log, now);
    return readWarmingWindow(charge, log, this.#stateOf(charge), now);
  }

  /** Goes on with the climb of a charge that was admitted; it is given the reading after that, and gives it back. */
  admitted(charge: Charge, reading: Reading, now: number): Reading {
    if (isWarming(charge)) this.admit(charge, reading.remaining, now);
    return reading;
  }

  /** The charge was admitted, which left so many units free. */
  admit(charge: Charge, free: number, now: number): void {
    if (!isWarming(charge) || charge.cost === 0) return;
    const length = lengthOf(charge);
    this.#sweep(length, now);
    const state = new Climb(charge, charge.warmUp).after(this.#stateOf(charge), now, { cost: charge.cost, free });
    this.#drop(length, logName(charge));
    const isBounded = charge.isAlwaysTracked !== true;
    if (isBounded && this.#size >= this.#most && !this.#forgetOldest(length)) return;
    let states = this.#byLength.get(length);
    if (!states) this.#byLength.set(length, (states = new Map()));
    states.set(logName(charge), state);
    this.#size++;
  }

  /** Their logs are cold. */
  forget(charges: readonly Charge[]): void {
    for (const charge of charges) if (isWarming(charge)) this.#drop(lengthOf(charge), logName(charge));
  }

  #stateOf(charge: WarmingCharge): WarmUpState | undefined {
    return this.#byLength.get(lengthOf(charge))?.get(logName(charge));
  }

  /** Two that are cold, so that sweeping outruns growth. */
  #sweep(length: number, now: number): void {
    let most = 2;
    for (const [name, { idleFrom }] of this.#byLength.get(length) ?? []) {
      if (most-- === 0 || idleFrom + Math.abs(length) > now) break;
      this.#drop(length, name);
    }
  }

  #forgetOldest(length: number): boolean {
    const [oldest] = this.#byLength.get(length)?.keys() ?? [];
    return oldest !== undefined && this.#drop(length, oldest);
  }

  #drop(length: number, name: string): boolean {
    const states = this.#byLength.get(length);
    if (!states?.delete(name)) return false;
    this.#size--;
    if (states.size === 0) this.#byLength.delete(length);
    return true;
  }
}

const lengthOf = ({ warmUp, isAlwaysTracked }: WarmingCharge): number =>
  isAlwaysTracked ? -warmUp.overMs : warmUp.overMs;
