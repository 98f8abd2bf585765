import { ConfigurableModuleBuilder, Module, type DynamicModule } from '@nestjs/common';
import { PrometheusMetrics } from './prometheus-metrics.ts';
import { PROMETHEUS_OPTIONS, type RateLimitPrometheusOptions } from './prometheus-options.ts';

const { ConfigurableModuleClass, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<RateLimitPrometheusOptions>({
  optionsInjectionToken: PROMETHEUS_OPTIONS,
})
  .setClassMethodName('forRoot')
  .build();

/** Options of {@link RateLimitPrometheusModule.forRootAsync}. */
export type RateLimitPrometheusAsyncOptions = typeof ASYNC_OPTIONS_TYPE;

/**
 * Metrics of prom-client: what rules decide and how the store does. Import it once, beside `RateLimitModule`, as it is for
 * the global registry, or by `forRoot({ registry })`.
 *
 * Several applications of one process that have one registry add up there; a store is told as available when all are.
 * What was counted stays when an application closes.
 */
@Module({ providers: [PrometheusMetrics] })
export class RateLimitPrometheusModule extends ConfigurableModuleClass {
  /** The module with these options. @throws RateLimitConfigurationError when the application starts, for faulty ones */
  static override forRoot(options: RateLimitPrometheusOptions = {}): DynamicModule {
    return super.forRoot(options);
  }

  /** The options from a factory, with its dependencies injected. */
  static override forRootAsync(options: RateLimitPrometheusAsyncOptions): DynamicModule {
    return super.forRootAsync(options);
  }
}
