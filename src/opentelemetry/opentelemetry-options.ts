import type { MeterProvider } from '@opentelemetry/api';

/** Options of `RateLimitOpenTelemetryModule`. */
export interface RateLimitOpenTelemetryOptions {
  /** What makes the meter, which is named `nestjs-floodgate`. @default the global one when the application starts */
  readonly meterProvider?: MeterProvider;
}

export const OPENTELEMETRY_OPTIONS = Symbol.for('nestjs-floodgate:opentelemetry-options');
