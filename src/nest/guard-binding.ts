import { Inject, Injectable, UseGuards, type CanActivate } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { lateGuard } from './late-guard.ts';
import type { RateLimitModuleOptions } from './module-options.ts';
import type { Handler } from './place.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { RuleBook } from './rule-book.ts';
import { MODULE_OPTIONS } from './tokens.ts';

const GUARDS = '__guards__';

/**
 * Puts the guards in place while providers are built, whatever the order of imports and decorators: a global guard
 * added now stands before every APP_GUARD, which Nest adds when all providers are built, and a guard appended to a
 * handler now stands behind the global, controller and method guards.
 */
@Injectable()
export class GuardBinding {
  readonly #rules: RuleBook;
  readonly #isBound: boolean;

  constructor(
    @Inject(MODULE_OPTIONS) { enabled = true, guard: mode }: RateLimitModuleOptions,
    @Inject(ApplicationConfig) application: ApplicationConfig,
    @Inject(RateLimitGuard) guard: CanActivate,
    @Inject(RuleBook) rules: RuleBook,
  ) {
    this.#rules = rules;
    this.#isBound = enabled && mode !== 'manual';
    if (this.#isBound) application.addGlobalGuard(guard);
    this.#appendLateGuards();
  }

  /** For methods that controllers replaced on themselves when they were built. Routes must not be there yet. */
  bindInstances(): void {
    this.#rules.findReplacedMethods();
    this.#appendLateGuards();
  }

  #appendLateGuards(): void {
    if (this.#isBound) for (const handler of this.#rules.lateHandlers) appendLateGuard(handler);
  }
}

/** Once, however many applications of the process serve this handler. */
function appendLateGuard(handler: Handler): void {
  const guards = (Reflect.getMetadata(GUARDS, handler) ?? []) as readonly unknown[];
  if (guards.includes(lateGuard)) return;
  UseGuards(lateGuard)({}, handler.name, { value: handler });
}
