import type { OnModuleInit, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { MODULE_OPTIONS } from './tokens.ts';

/**
 * Sees to it that the module is there once, and before the first request. Built before anything connects.
 *
 * @throws Error when the application imports the module twice, or gives it options that exist for one request only
 */
export class RootModuleCheck implements OnModuleInit {
  readonly #modules: ModulesContainer;
  readonly #rootModule: Type;

  constructor(modules: ModulesContainer, rootModule: Type) {
    this.#modules = modules;
    this.#rootModule = rootModule;
    const { length } = this.#roots;
    if (length > 1) {
      throw new Error(
        `${rootModule.name} must be imported once in an application, by forRoot(…) or forRootAsync(…), but is imported ${length} times`,
      );
    }
  }

  /** Nest builds nothing of ours then, guards included, and would go on without a word. */
  onModuleInit(): void {
    const [root] = this.#roots;
    if (!root?.providers.get(MODULE_OPTIONS)?.isDependencyTreeStatic()) {
      throw new Error(`${this.#rootModule.name}.forRootAsync must not depend on a request-scoped provider`);
    }
  }

  get #roots() {
    return [...this.#modules.values()].filter(({ metatype }) => metatype === this.#rootModule);
  }
}
