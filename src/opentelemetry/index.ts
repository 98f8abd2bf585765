export type { RateLimitOpenTelemetryOptions } from './opentelemetry-options.ts';
export { RateLimitOpenTelemetryModule, type RateLimitOpenTelemetryAsyncOptions } from './opentelemetry.module.ts';
