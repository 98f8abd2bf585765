import { ConfigurableModuleBuilder, Module, type DynamicModule } from '@nestjs/common';
import { OpenTelemetryMetrics } from './opentelemetry-metrics.ts';
import { OPENTELEMETRY_OPTIONS, type RateLimitOpenTelemetryOptions } from './opentelemetry-options.ts';

const { ConfigurableModuleClass, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<RateLimitOpenTelemetryOptions>({
  optionsInjectionToken: OPENTELEMETRY_OPTIONS,
})
  .setClassMethodName('forRoot')
  .build();

/** Options of {@link RateLimitOpenTelemetryModule.forRootAsync}. */
export type RateLimitOpenTelemetryAsyncOptions = typeof ASYNC_OPTIONS_TYPE;

/**
 * Metrics of OpenTelemetry: what rules decide and how the store does. Import it once, beside `RateLimitModule`, as it is
 * for the global provider of meters, which has to be set before the application starts, or by `forRoot({ meterProvider })`.
 *
 * Several applications of one process that have one provider add up there; a store is told as available when all are.
 */
@Module({ providers: [OpenTelemetryMetrics] })
export class RateLimitOpenTelemetryModule extends ConfigurableModuleClass {
  /** The module with these options. @throws RateLimitConfigurationError when the application starts, for faulty ones */
  static override forRoot(options: RateLimitOpenTelemetryOptions = {}): DynamicModule {
    return super.forRoot(options);
  }

  /** The options from a factory, with its dependencies injected. */
  static override forRootAsync(options: RateLimitOpenTelemetryAsyncOptions): DynamicModule {
    return super.forRootAsync(options);
  }
}
