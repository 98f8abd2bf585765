import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  Optional,
  type DynamicModule,
  type NestModule,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import type { Transport } from '../transports/transport.ts';
import { WaitingCalls } from '../waiting/waiting-calls.ts';
import { GuardBinding } from './guard-binding.ts';
import { OutcomeRefunds } from './outcome-refunds.ts';
import type { RateLimitModuleOptions, RateLimitOptionsFactory } from './module-options.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { rateLimitProviders } from './rate-limit.providers.ts';
import { RateLimitUnavailableException } from './rate-limit-unavailable.exception.ts';
import { RateLimiter } from './rate-limiter.ts';
import { RequestLimiter } from './request-limiter.ts';
import { RuleBook } from './rule-book.ts';
import { CALL_LIMITER, MODULE_OPTIONS, RATE_LIMIT_STORE, TRANSPORT } from './tokens.ts';

const { ConfigurableModuleClass, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<RateLimitModuleOptions>({
  optionsInjectionToken: MODULE_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createRateLimitOptions' satisfies keyof RateLimitOptionsFactory)
  .build();

/** Options of {@link RateLimitModule.forRootAsync}: `useFactory`, `useClass` or `useExisting`, with `imports`, `inject`. */
export type RateLimitModuleAsyncOptions = typeof ASYNC_OPTIONS_TYPE;

/**
 * Limits the routes of the application that `@RateLimit` stands on. Import it once, in the root module:
 * `RateLimitModule.forRoot({ redis: 'redis://localhost:6379' })`. It is global, and binds its guards itself.
 */
@Module({})
export class RateLimitModule
  extends ConfigurableModuleClass
  implements NestModule, OnModuleInit, OnModuleDestroy, OnApplicationShutdown
{
  readonly #store: RateLimitStore;
  readonly #transport: Transport;
  readonly #binding: GuardBinding;
  readonly #waiting: WaitingCalls;
  readonly #outcomes: OutcomeRefunds;
  readonly #rules: RuleBook;

  constructor(
    @Optional() @Inject(RATE_LIMIT_STORE) store: RateLimitStore | undefined,
    @Optional() @Inject(TRANSPORT) transport: Transport | undefined,
    @Optional() @Inject(GuardBinding) binding: GuardBinding | undefined,
    @Optional() @Inject(WaitingCalls) waiting: WaitingCalls | undefined,
    @Optional() @Inject(OutcomeRefunds) outcomes: OutcomeRefunds | undefined,
    @Optional() @Inject(RuleBook) rules: RuleBook | undefined,
  ) {
    super();
    if (!store || !transport || !binding || !waiting || !outcomes || !rules) {
      throw new Error(
        'RateLimitModule must be imported as RateLimitModule.forRoot(…) or forRootAsync(…), not as the bare class',
      );
    }
    this.#store = store;
    this.#transport = transport;
    this.#binding = binding;
    this.#waiting = waiting;
    this.#outcomes = outcomes;
    this.#rules = rules;
  }

  /**
   * The module with these options.
   *
   * @param options without `redis`, limits hold for one process only
   */
  static override forRoot(options: RateLimitModuleOptions = {}): DynamicModule {
    return asGlobalModule(super.forRoot(options));
  }

  /** The options from a factory, with its dependencies injected. */
  static override forRootAsync(options: RateLimitModuleAsyncOptions): DynamicModule {
    return asGlobalModule(super.forRootAsync(options));
  }

  /** Nest calls this when all controllers are built and before it reads the guards of their routes. */
  configure(): void {
    this.#binding.bindInstances();
  }

  /** Looks at the instances that there are by now, and begins to listen to what the transport tells. */
  onModuleInit(): void {
    this.#rules.calls.assertInstancesLimited();
    this.#transport.start();
  }

  /** Before the HTTP server waits for the requests that are under way, among which may be some that wait here. */
  async onModuleDestroy(): Promise<void> {
    const message = 'The application closed while a call waited for its turn';
    await this.#waiting.end(new RateLimitUnavailableException(undefined, message));
  }

  /** Later than the last request: Nest calls this when the HTTP server has closed. */
  async onApplicationShutdown(): Promise<void> {
    await this.#outcomes.close();
    await this.#store.close?.();
  }
}

const asGlobalModule = (definition: DynamicModule): DynamicModule => ({
  ...definition,
  global: true,
  imports: [...(definition.imports ?? []), DiscoveryModule],
  providers: [...(definition.providers ?? []), ...rateLimitProviders(RateLimitModule)],
  // The guard is built anew in each module that places it, so what it needs has to be there. Metrics need the rule book.
  exports: [RateLimiter, CALL_LIMITER, RateLimitGuard, RequestLimiter, RATE_LIMIT_STORE, RuleBook],
});
