import { Inject, Injectable, Optional, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { register } from 'prom-client';
import { checkOptions } from '../metrics/check-options.ts';
import { startMeasuring } from '../metrics/measuring.ts';
import { storesOf } from '../metrics/watched-stores.ts';
import { RateLimiter } from '../nest/rate-limiter.ts';
import { RuleBook } from '../nest/rule-book.ts';
import { prometheusInstruments } from './prometheus-instruments.ts';
import { PROMETHEUS_OPTIONS, type RateLimitPrometheusOptions } from './prometheus-options.ts';

/** Measures its application from when it starts until it has closed. */
@Injectable()
export class PrometheusMetrics implements OnModuleInit, OnApplicationShutdown {
  readonly #limiter: RateLimiter;
  readonly #rules: RuleBook;
  readonly #options: RateLimitPrometheusOptions;
  #stop: (() => void) | undefined;

  constructor(
    @Inject(RateLimiter) limiter: RateLimiter,
    @Inject(RuleBook) rules: RuleBook,
    @Optional() @Inject(PROMETHEUS_OPTIONS) options: RateLimitPrometheusOptions = {},
  ) {
    const methods = ['getSingleMetric', 'registerMetric'];
    checkOptions('RateLimitPrometheusModule', options, {
      name: 'registry',
      methods,
      example: 'a Registry of prom-client',
    });
    this.#limiter = limiter;
    this.#rules = rules;
    this.#options = options;
  }

  onModuleInit(): void {
    const { registry = register } = this.#options;
    const stores = storesOf(registry);
    const instruments = prometheusInstruments(registry, stores);
    this.#stop = startMeasuring({ limiter: this.#limiter, rules: this.#rules, stores, instruments });
  }

  /** Later than the last request: Nest calls this when the HTTP server has closed. */
  onApplicationShutdown(): void {
    this.#stop?.();
  }
}
