import { HttpException, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { Application } from '../application.ts';
import type { Decide, Limiter } from '../limiter.ts';
import { rateLimiterFlexible, rateLimiterFlexibleWithBlock } from '../limiters/rate-limiter-flexible.ts';

/** It has no module for Nest: the least that one writes for it, without headers. */
@Injectable()
class BareGuard implements CanActivate {
  readonly #decide: Decide;

  constructor(decide: Decide) {
    this.#decide = decide;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (await this.#decide(context.switchToHttp().getRequest<{ ip: string }>().ip)) return true;
    throw new HttpException('Too Many Requests', 429);
  }
}

const guardedBy =
  (limiter: Limiter): Application =>
  (redis, { rule }) => ({
    providers: [{ provide: APP_GUARD, useFactory: async () => new BareGuard(await limiter(redis, rule)) }],
  });

export const flexible = guardedBy(rateLimiterFlexible);
export const flexibleWithBlock = guardedBy(rateLimiterFlexibleWithBlock);
