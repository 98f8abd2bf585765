import { Logger } from '@nestjs/common';
import type { StoreWarningCode } from '../core/store-event.ts';

/** Known mistakes that the module notices, by the code that the log and the README name them by. */
const MESSAGES = {
  FLOODGATE_PROCESS_LOCAL: 'limits hold for this process only, since RateLimitModule.forRoot got no redis',
  FLOODGATE_DISABLED: 'nothing is limited, since enabled is false',
  FLOODGATE_UNTRUSTED_PROXY:
    'a request carries a forwarding header, which the application ignores: if it stands behind a proxy, all ' +
    'clients share the address of the proxy',
  FLOODGATE_NO_USER: 'no request so far had a user, so the rule limits addresses',
  FLOODGATE_CHANGING_RULE: 'a function of the rule gave another value on every request, so it limits next to nothing',
  FLOODGATE_LARGE_LOGS: 'each client can fill a log of more than 100 kB, 120 bytes a unit',
} as const;

type ModuleWarningCode = keyof typeof MESSAGES;

/** Tells each known mistake once, with its code. */
export class Warnings {
  readonly #logger = new Logger('RateLimit');
  readonly #told = new Set<ModuleWarningCode | StoreWarningCode>();

  /** @param where what it is about, if not the application as a whole */
  once(code: ModuleWarningCode, where?: string): void {
    this.tell(code, where === undefined ? MESSAGES[code] : `${where}: ${MESSAGES[code]}`);
  }

  /** A mistake in words of its own, once like the others. */
  tell(code: ModuleWarningCode | StoreWarningCode, message: string): void {
    if (this.#told.has(code)) return;
    this.#told.add(code);
    this.#logger.warn(`[${code}] ${message} (README, "Warnings")`);
  }
}
