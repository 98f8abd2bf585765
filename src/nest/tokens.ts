// Symbols of the global registry, so that copies of the library in one process agree on them.

/** The options given to `RateLimitModule.forRoot` or found by `forRootAsync`. */
export const MODULE_OPTIONS = Symbol.for('nestjs-floodgate:module-options');
/** The {@link RateLimitStore} that the module uses, all wrappers included. */
export const RATE_LIMIT_STORE = Symbol.for('nestjs-floodgate:store');
/** What `@LimitCalls` asks: the {@link CallLimiter} of the application. */
export const CALL_LIMITER = Symbol.for('nestjs-floodgate:call-limiter');
/** Where requests come from: the {@link Transport} of the application. */
export const TRANSPORT = Symbol.for('nestjs-floodgate:transport');
