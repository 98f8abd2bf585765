import { Logger } from '@nestjs/common';

/** Known mistakes, by the code that the log and the README name them by. */
export type WarningCode = 'FLOODGATE_PROCESS_LOCAL' | 'FLOODGATE_UNTRUSTED_PROXY' | 'FLOODGATE_NO_USER';

const MESSAGES: Readonly<Record<WarningCode, string>> = {
  FLOODGATE_PROCESS_LOCAL: 'limits hold for this process only, since RateLimitModule.forRoot got no redis',
  FLOODGATE_UNTRUSTED_PROXY:
    'a request carries a forwarding header, but the application trusts no proxy: if it stands behind one, all clients ' +
    'share the address of the proxy',
  FLOODGATE_NO_USER: 'no request so far had a user, so the rule limits addresses',
};

/** Tells each known mistake once, with its code. */
export class Warnings {
  readonly #logger = new Logger('RateLimit');
  readonly #told = new Set<WarningCode>();

  /** @param where what it is about, if not the application as a whole */
  once(code: WarningCode, where?: string): void {
    if (this.#told.has(code)) return;
    this.#told.add(code);
    this.#logger.warn(`[${code}] ${where === undefined ? '' : `${where}: `}${MESSAGES[code]} (README, "Warnings")`);
  }
}
