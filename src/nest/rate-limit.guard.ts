import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { RequestLimiter } from './request-limiter.ts';

/**
 * Applies the rules of each handler. `RateLimitModule.forRoot` binds it before all other guards, and what has to wait
 * for them is decided after them; with `guard: 'manual'` it decides everything where the application places it. Met
 * twice on the way to a handler, it charges once.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  readonly #limiter: RequestLimiter;

  constructor(@Inject(RequestLimiter) limiter: RequestLimiter) {
    this.#limiter = limiter;
  }

  /** @throws RateLimitException when a rule refuses the request */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return this.#limiter.admit(context);
  }
}
