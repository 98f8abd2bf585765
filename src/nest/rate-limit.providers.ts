import type { ExecutionContext, Provider, Type } from '@nestjs/common';
import { HttpAdapterHost, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { callIds } from '../core/call-id.ts';
import { durationMs } from '../core/duration.ts';
import type { RateLimitStore } from '../core/rate-limit-store.ts';
import { createRateLimitStore, DEFAULT_DECISION_TIMEOUT } from '../create-rate-limit-store.ts';
import type { StoreEvent } from '../core/store-event.ts';
import type { SupervisedStore } from '../core/store-health.ts';
import { HttpTransport } from '../transports/http-transport.ts';
import type { Transport } from '../transports/transport.ts';
import { WaitingCalls } from '../waiting/waiting-calls.ts';
import { Blocks } from './blocks.ts';
import { clientLists } from './client-lists.ts';
import { hashedIdentity, plainIdentity } from './decision-event.ts';
import { DecisionStream } from './decision-stream.ts';
import { GuardBinding } from './guard-binding.ts';
import { headerWriter } from './header-format.ts';
import { Identifier } from './identity.ts';
import { LimitSwitch } from './limit-switch.ts';
import { identitySettings, type RateLimitModuleOptions } from './module-options.ts';
import { OutcomeRefunds } from './outcome-refunds.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { RequestLimiter } from './request-limiter.ts';
import { RootModuleCheck } from './root-module-check.ts';
import { RuleBook } from './rule-book.ts';
import { RuleCharges } from './rule-charges.ts';
import { RuleDecider } from './rule-decider.ts';
import { LIMITER_PROVIDERS } from './rate-limiter.provider.ts';
import { RenewingStore } from './renewed-charges.ts';
import { LIVE_RULES_PROVIDERS } from './live-rules.providers.ts';
import { LiveRules } from './live-rules.ts';
import { RuleLog } from './rule-log.ts';
import { tellStoreEvent } from './store-event-log.ts';
import { ShadowJudge } from './shadow-judge.ts';
import { SHADOW_PROVIDERS } from './shadow.providers.ts';
import { ShadowRequest } from './shadow-request.ts';
import { StoreEventStream } from './store-event-stream.ts';
import { MODULE_OPTIONS, RATE_LIMIT_STORE, TRANSPORT } from './tokens.ts';
import { RuleWatch } from './rule-watch.ts';
import { Warnings } from './warnings.ts';

/** Milliseconds that the store calls of a decision may take. */
const deadlineOf = ({ decisionTimeout = DEFAULT_DECISION_TIMEOUT }: RateLimitModuleOptions): number =>
  durationMs(decisionTimeout);

/**
 * What the module is made of, by the order in which it is needed.
 *
 * @param rootModule the class of the module, which is to be imported once
 */
export const rateLimitProviders = (rootModule: Type): Provider[] => [
  MetadataScanner,
  RuleBook,
  RateLimitGuard,
  GuardBinding,
  Warnings,
  StoreEventStream,
  {
    provide: RootModuleCheck,
    inject: [ModulesContainer],
    useFactory: (modules: ModulesContainer) => new RootModuleCheck(modules, rootModule),
  },
  {
    provide: RATE_LIMIT_STORE,
    // The rule book comes first, so that everything is checked before a connection opens.
    inject: [MODULE_OPTIONS, Warnings, RuleBook, StoreEventStream],
    useFactory: (
      options: RateLimitModuleOptions,
      warnings: Warnings,
      rules: RuleBook,
      events: StoreEventStream,
    ): Promise<SupervisedStore> => {
      const { enabled = true, redis, store, keyPrefix, decisionTimeout } = options;
      const { onStoreError, instances, onMemoryLoss } = options;
      if (!enabled) {
        warnings.once('FLOODGATE_DISABLED');
        return createRateLimitStore(store && { store });
      }
      if (!redis && !store) warnings.once('FLOODGATE_PROCESS_LOCAL');
      const large = rules.withLargeLogs;
      if (large.length > 0) warnings.once('FLOODGATE_LARGE_LOGS', large.join(', '));
      const onStoreEvent = (event: StoreEvent): void => {
        tellStoreEvent(event, warnings);
        events.tell(event);
      };
      const failure = { onStoreError, instances, onMemoryLoss, onStoreEvent };
      return createRateLimitStore({ redis, store, keyPrefix, decisionTimeout, ...failure });
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
  RuleLog,
  {
    provide: OutcomeRefunds,
    inject: [MODULE_OPTIONS, RATE_LIMIT_STORE, TRANSPORT, RuleLog],
    useFactory: (options: RateLimitModuleOptions, store: RateLimitStore, transport: Transport, log: RuleLog) =>
      new OutcomeRefunds({ store, transport, log, deadlineMs: deadlineOf(options) }),
  },
  ...LIVE_RULES_PROVIDERS,
  {
    provide: DecisionStream,
    // The rule book comes first: it says what is wrong with the options.
    inject: [MODULE_OPTIONS, RuleBook],
    useFactory: ({ decisionIdentities = 'hashed' }: RateLimitModuleOptions) =>
      new DecisionStream(decisionIdentities === 'plain' ? plainIdentity : hashedIdentity),
  },
  ...SHADOW_PROVIDERS,
  {
    provide: Blocks,
    inject: [MODULE_OPTIONS, RATE_LIMIT_STORE],
    useFactory: (options: RateLimitModuleOptions, store: RateLimitStore) =>
      new Blocks({ store, nextId: callIds(), deadlineMs: deadlineOf(options) }),
  },
  {
    provide: RequestLimiter,
    inject: [
      MODULE_OPTIONS,
      RATE_LIMIT_STORE,
      TRANSPORT,
      RuleBook,
      Warnings,
      DecisionStream,
      RuleLog,
      OutcomeRefunds,
      Blocks,
      LiveRules,
      ShadowJudge,
      LimitSwitch,
    ],
    useFactory: (
      options: RateLimitModuleOptions,
      store: RateLimitStore,
      transport: Transport,
      rules: RuleBook,
      warnings: Warnings,
      decisions: DecisionStream,
      log: RuleLog,
      outcomes: OutcomeRefunds,
      blocks: Blocks,
      live: LiveRules,
      judge: ShadowJudge,
      limits: LimitSwitch,
    ) => {
      const settings = identitySettings(options);
      const identifier = new Identifier(settings, transport);
      const lists = clientLists(options, identifier, transport);
      const charges = new RuleCharges(identifier, settings.anonymous, log, new RuleWatch(warnings), live);
      const headers = headerWriter(options.headers ?? 'legacy', options.partitionKey ?? false);
      const hasProblemDetails = options.problemDetails ?? false;
      const decider = new RuleDecider({
        store,
        transport,
        charges,
        log,
        decisions,
        blocks,
        nextId: callIds(),
        headers,
        hasProblemDetails,
      });
      const deadlineMs = deadlineOf(options);
      const shadows = (context: ExecutionContext): ShadowRequest => new ShadowRequest({ judge, charges }, context);
      return new RequestLimiter({ transport, rules, lists, decider, outcomes, shadows, limits, deadlineMs });
    },
  },
  {
    provide: WaitingCalls,
    inject: [RATE_LIMIT_STORE, Blocks, LiveRules],
    useFactory: (store: RateLimitStore, blocks: Blocks, live: LiveRules) => {
      const waiting = new WaitingCalls({ store: new RenewingStore(store, blocks), nextId: callIds() });
      live.whenChanged(() => waiting.askAgain());
      return waiting;
    },
  },
  ...LIMITER_PROVIDERS,
];
