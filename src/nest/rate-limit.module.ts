import {
  ConfigurableModuleBuilder,
  Inject,
  Logger,
  Module,
  Optional,
  type DynamicModule,
  type NestModule,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, HttpAdapterHost, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { callIds } from '../core/call-id.ts';
import { durationMs } from '../core/duration.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { createRateLimitStore, DEFAULT_DECISION_TIMEOUT } from '../create-rate-limit-store.ts';
import type { StoreEvent } from '../failure/store-events.ts';
import { HttpTransport } from '../transports/http-transport.ts';
import type { Transport } from '../transports/transport.ts';
import { GuardBinding } from './guard-binding.ts';
import { headerWriter } from './header-format.ts';
import { Identifier } from './identity.ts';
import { identitySettings, type RateLimitModuleOptions, type RateLimitOptionsFactory } from './module-options.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { RateLimiter } from './rate-limiter.ts';
import { RequestLimiter } from './request-limiter.ts';
import { RootModuleCheck } from './root-module-check.ts';
import { RuleBook } from './rule-book.ts';
import { RuleCharges } from './rule-charges.ts';
import { RuleDecider } from './rule-decider.ts';
import { RuleLog } from './rule-log.ts';
import { MODULE_OPTIONS, RATE_LIMIT_STORE, TRANSPORT } from './tokens.ts';
import { Warnings } from './warnings.ts';

const { ConfigurableModuleClass, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<RateLimitModuleOptions>({
  optionsInjectionToken: MODULE_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createRateLimitOptions' satisfies keyof RateLimitOptionsFactory)
  .build();

/** Options of {@link RateLimitModule.forRootAsync}: `useFactory`, `useClass` or `useExisting`, with `imports`, `inject`. */
export type RateLimitModuleAsyncOptions = typeof ASYNC_OPTIONS_TYPE;

const logger = new Logger('RateLimit');

function tellStoreEvent(event: StoreEvent): void {
  if (event.type === 'available') logger.log('The store answers again');
  else logger.error(`The store cannot decide, failure policies do: ${event.error.message} (${event.error.kind})`);
}

const providers: Provider[] = [
  MetadataScanner,
  RuleBook,
  RateLimitGuard,
  GuardBinding,
  Warnings,
  {
    provide: RootModuleCheck,
    inject: [ModulesContainer],
    useFactory: (modules: ModulesContainer) => new RootModuleCheck(modules, RateLimitModule),
  },
  {
    provide: RATE_LIMIT_STORE,
    // The rule book comes first, so that everything is checked before a connection opens.
    inject: [MODULE_OPTIONS, Warnings, RuleBook],
    useFactory: (options: RateLimitModuleOptions, warnings: Warnings): Promise<RateLimitStore> => {
      const { enabled = true, redis, store, keyPrefix, decisionTimeout, onStoreError } = options;
      if (!enabled) return createRateLimitStore(store && { store });
      if (!redis && !store) warnings.once('FLOODGATE_PROCESS_LOCAL');
      const onStoreEvent = tellStoreEvent;
      return createRateLimitStore({ redis, store, keyPrefix, decisionTimeout, onStoreError, onStoreEvent });
    },
  },
  {
    provide: TRANSPORT,
    inject: [HttpAdapterHost, Warnings],
    useFactory: (host: HttpAdapterHost, warnings: Warnings): Transport =>
      new HttpTransport(
        () => host.httpAdapter,
        () => warnings.once('FLOODGATE_UNTRUSTED_PROXY'),
      ),
  },
  {
    provide: RequestLimiter,
    inject: [MODULE_OPTIONS, RATE_LIMIT_STORE, TRANSPORT, RuleBook, Warnings],
    useFactory: (
      options: RateLimitModuleOptions,
      store: RateLimitStore,
      transport: Transport,
      rules: RuleBook,
      warnings: Warnings,
    ) => {
      const settings = identitySettings(options);
      const log = new RuleLog();
      const charges = new RuleCharges(new Identifier(settings, transport), settings.anonymous, log, warnings);
      const headers = headerWriter(options.headers ?? 'legacy', options.partitionKey ?? false);
      const hasProblemDetails = options.problemDetails ?? false;
      const decider = new RuleDecider({
        store,
        transport,
        charges,
        log,
        nextId: callIds(),
        headers,
        hasProblemDetails,
      });
      const deadlineMs = durationMs(options.decisionTimeout ?? DEFAULT_DECISION_TIMEOUT);
      return new RequestLimiter({ transport, rules, decider, deadlineMs });
    },
  },
  {
    provide: RateLimiter,
    inject: [MODULE_OPTIONS, RATE_LIMIT_STORE, RuleBook],
    useFactory: (options: RateLimitModuleOptions, store: RateLimitStore, rules: RuleBook) => {
      const { ipv6Prefix } = identitySettings(options);
      return new RateLimiter({ store, rules, nextId: callIds(), ipv6Prefix, enabled: options.enabled ?? true });
    },
  },
];

/**
 * Limits the routes of the application that `@RateLimit` stands on. Import it once, in the root module:
 * `RateLimitModule.forRoot({ redis: 'redis://localhost:6379' })`. It is global, and binds its guards itself.
 */
@Module({})
export class RateLimitModule
  extends ConfigurableModuleClass
  implements NestModule, OnModuleInit, OnApplicationShutdown
{
  readonly #store: RateLimitStore;
  readonly #transport: Transport;
  readonly #binding: GuardBinding;

  constructor(
    @Optional() @Inject(RATE_LIMIT_STORE) store: RateLimitStore | undefined,
    @Optional() @Inject(TRANSPORT) transport: Transport | undefined,
    @Optional() @Inject(GuardBinding) binding: GuardBinding | undefined,
  ) {
    super();
    if (!store || !transport || !binding) {
      throw new Error(
        'RateLimitModule must be imported as RateLimitModule.forRoot(…) or forRootAsync(…), not as the bare class',
      );
    }
    this.#store = store;
    this.#transport = transport;
    this.#binding = binding;
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

  /** Begins to listen to what the transport tells. */
  onModuleInit(): void {
    this.#transport.start();
  }

  /** Later than the last request: Nest calls this when the HTTP server has closed. */
  async onApplicationShutdown(): Promise<void> {
    await this.#store.close?.();
  }
}

const asGlobalModule = (definition: DynamicModule): DynamicModule => ({
  ...definition,
  global: true,
  imports: [...(definition.imports ?? []), DiscoveryModule],
  providers: [...(definition.providers ?? []), ...providers],
  // The guard is built anew in each module that places it, so what it needs has to be there.
  exports: [RateLimiter, RateLimitGuard, RequestLimiter, RATE_LIMIT_STORE],
});
