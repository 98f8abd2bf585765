import type { OpenMetricsContentType, Registry } from 'prom-client';

/** Options of `RateLimitPrometheusModule`. */
export interface RateLimitPrometheusOptions {
  /** Where the metrics are registered. @default the global registry of prom-client */
  readonly registry?: Registry | Registry<OpenMetricsContentType>;
}

export const PROMETHEUS_OPTIONS = Symbol.for('nestjs-floodgate:prometheus-options');
