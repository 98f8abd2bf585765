import { Inject, Injectable, UseGuards, UseInterceptors, type CanActivate } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { lateGuard } from './late-guard.ts';
import type { RateLimitModuleOptions } from './module-options.ts';
import { outcomeInterceptor } from './outcome-interceptor.ts';
import type { Handler } from './place.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { RuleBook } from './rule-book.ts';
import { MODULE_OPTIONS } from './tokens.ts';

const GUARDS = '__guards__';
const INTERCEPTORS = '__interceptors__';

/**
 * Puts the guards in place while providers are built, whatever the order of imports and decorators: a global guard
 * added now stands before every APP_GUARD, which Nest adds when all providers are built, and a guard appended to a
 * handler now stands behind the global, controller and method guards. So does an interceptor.
 */
@Injectable()
export class GuardBinding {
  readonly #rules: RuleBook;
  readonly #isEnabled: boolean;
  readonly #isBound: boolean;

  constructor(
    @Inject(MODULE_OPTIONS) { enabled = true, guard: mode }: RateLimitModuleOptions,
    @Inject(ApplicationConfig) application: ApplicationConfig,
    @Inject(RateLimitGuard) guard: CanActivate,
    @Inject(RuleBook) rules: RuleBook,
  ) {
    this.#rules = rules;
    this.#isEnabled = enabled !== false;
    this.#isBound = this.#isEnabled && mode !== 'manual';
    if (this.#isBound) application.addGlobalGuard(guard);
    this.#appendToHandlers();
  }

  /** For methods that controllers replaced on themselves when they were built. Routes must not be there yet. */
  bindInstances(): void {
    this.#rules.findReplacedMethods();
    this.#appendToHandlers();
  }

  #appendToHandlers(): void {
    if (this.#isBound) for (const handler of this.#rules.handlers.lateHandlers) appendLateGuard(handler);
    if (this.#isEnabled) for (const handler of this.#rules.handlers.outcomeHandlers) appendOutcomeInterceptor(handler);
  }
}

/** Once, however many applications of the process serve this handler. */
function appendLateGuard(handler: Handler): void {
  const guards = (Reflect.getMetadata(GUARDS, handler) ?? []) as readonly unknown[];
  if (guards.includes(lateGuard)) return;
  UseGuards(lateGuard)({}, handler.name, { value: handler });
}

/** Likewise: nearest to the handler, it sees what every other interceptor may change. */
function appendOutcomeInterceptor(handler: Handler): void {
  const interceptors = (Reflect.getMetadata(INTERCEPTORS, handler) ?? []) as readonly unknown[];
  if (interceptors.includes(outcomeInterceptor)) return;
  UseInterceptors(outcomeInterceptor)({}, handler.name, { value: handler });
}
