import { Logger } from '@nestjs/common';
import { describeError, show } from '../core/show.ts';

const QUIET_MS = 60_000;

/** Whether limits apply: by the option `enabled`, and by what was switched off in this process at run time. */
export class LimitSwitch {
  readonly #logger = new Logger('RateLimit');
  readonly #enabled: boolean | (() => unknown);
  #isSwitchedOff = false;
  #toldAt = -Infinity;

  constructor(enabled: boolean | (() => unknown)) {
    this.#enabled = enabled;
  }

  /** Asks the function, if `enabled` is one. */
  get isOn(): boolean {
    if (this.#isSwitchedOff) return false;
    return typeof this.#enabled === 'function' ? this.#ask(this.#enabled) : this.#enabled;
  }

  /** Whether `turnOff` was called last. */
  get isSwitchedOff(): boolean {
    return this.#isSwitchedOff;
  }

  /** Whether there is a store: not so where nothing can ever be limited. */
  get hasStore(): boolean {
    return this.#enabled !== false;
  }

  turnOff(): void {
    if (!this.#isSwitchedOff) this.#logger.warn('Limits are switched off in this process');
    this.#isSwitchedOff = true;
  }

  turnOn(): void {
    if (this.#isSwitchedOff) this.#logger.log('Limits are switched on again in this process');
    this.#isSwitchedOff = false;
  }

  /** Limits stay on where nobody knows. */
  #ask(enabled: () => unknown): boolean {
    try {
      const answer = enabled();
      if (typeof answer === 'boolean') return answer;
      // A promise is none, and must not end the process if it is rejected.
      void Promise.resolve(answer).catch(() => undefined);
      this.#tell(`gave ${show(answer)}, not true or false`);
    } catch (error) {
      this.#tell(`failed: ${describeError(error)}`);
    }
    return true;
  }

  #tell(fault: string): void {
    const now = performance.now();
    if (now - this.#toldAt < QUIET_MS) return;
    this.#toldAt = now;
    this.#logger.error(`The function in option enabled ${fault}. Limits stay on`);
  }
}
