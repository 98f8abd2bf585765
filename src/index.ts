export { callIds } from './core/call-id.ts';
export type { Charge, LogLayout } from './core/charge.ts';
export { MAX_EXACT_COST, MAX_EXACT_LIMIT, MAX_LIMIT } from './core/charge.ts';
export type { Allowed, Budget, Decision, DecisionSubstitute, Denied, Preview, Refusal } from './core/decision.ts';
export type { Duration } from './core/duration.ts';
export {
  RateLimitConfigurationError,
  RateLimitRequestError,
  StoreFullError,
  StoreUnavailableError,
  type StoreFailureKind,
} from './core/errors.ts';
export type { ConsumeRequest, RateLimitStore, RefundRequest } from './core/rate-limit-store.ts';
export type { StoreErrorPolicy } from './core/store-error-policy.ts';
export type {
  StoreAvailableEvent,
  StoreClockEvent,
  StoreEvent,
  StoreForgotEvent,
  StoreUnavailableEvent,
  StoreWarningCode,
  StoreWarningEvent,
} from './core/store-event.ts';
export type { WarmUp } from './core/warm-up.ts';
export type { CircuitState, StoreHealth, SupervisedStore } from './core/store-health.ts';
export { createRateLimitStore, type RateLimitStoreOptions } from './create-rate-limit-store.ts';
export { MemoryStore, type MemoryStoreOptions } from './memory/memory-store.ts';
export type { DecisionEvent, DecisionOutcome } from './nest/decision-event.ts';
export type { HeaderFormat } from './nest/header-format.ts';
export type { ClientList, ClientListFunction, ClientListOptions } from './nest/client-list.ts';
export type { AnonymousPolicy } from './nest/identity.ts';
export type { RateLimitModuleOptions, RateLimitOptionsFactory } from './nest/module-options.ts';
export type { Outcome, OutcomeCount } from './nest/outcome.ts';
export { RateLimit } from './nest/rate-limit.decorator.ts';
export { LimitCalls } from './nest/limit-calls.decorator.ts';
export type { LimitCallsOptions } from './nest/limit-calls-options.ts';
export { RateLimitExceptionFilter } from './nest/rate-limit-exception.filter.ts';
export { RateLimitException, type RateLimitExceptionBody } from './nest/rate-limit.exception.ts';
export { RateLimitGuard } from './nest/rate-limit.guard.ts';
export { RateLimitModule, type RateLimitModuleAsyncOptions } from './nest/rate-limit.module.ts';
export {
  RateLimitType,
  type BlockOptions,
  type KeyFunction,
  type RateLimitMode,
  type RateLimitMoment,
  type RateLimitOptions,
  type Resolvable,
} from './nest/rate-limit-options.ts';
export type { QuotaExceededProblem } from './nest/problem-details.ts';
export { RateLimitUnavailableException } from './nest/rate-limit-unavailable.exception.ts';
export type { AcquireOptions, ConsumeOptions } from './nest/acquire-options.ts';
export type { Granted } from './nest/consume-up-to.ts';
export type { RateLimitRules, RuleStatus } from './nest/rate-limit-rules.ts';
export type { RuleOverride, RuleOverrides } from './nest/rule-override.ts';
export { RateLimiter } from './nest/rate-limiter.ts';
export type { RuleReference } from './nest/reference-charges.ts';
export type { StandaloneRule } from './nest/standalone-rule.ts';
export { SkipRateLimit } from './nest/skip-rate-limit.decorator.ts';
export { tiers, type TierFunction, type TiersOptions } from './nest/tiers.ts';
export type { WarmUpOptions } from './nest/warm-up-option.ts';
export { RATE_LIMIT_STORE } from './nest/tokens.ts';
export type { ClusterNode, RedisConnectionOptions } from './redis/connection-options.ts';
export type { ClientEvent, RedisClient, RedisClusterClient } from './redis/redis-client.ts';
export { RATE_LIMIT_HEADERS } from './transports/rate-limit-headers.ts';
export { RedisStore } from './redis/redis-store.ts';
export type { ScriptStoreOptions as RedisStoreOptions } from './redis/script-store.ts';
