export type { RateLimitPrometheusOptions } from './prometheus-options.ts';
export { RateLimitPrometheusModule, type RateLimitPrometheusAsyncOptions } from './prometheus.module.ts';
