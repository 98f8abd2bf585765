import { Inject, Injectable, Optional, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { checkOptions } from '../metrics/check-options.ts';
import { startMeasuring } from '../metrics/measuring.ts';
import { storesOf } from '../metrics/watched-stores.ts';
import { RateLimiter } from '../nest/rate-limiter.ts';
import { RuleBook } from '../nest/rule-book.ts';
import { addGauges, openTelemetryInstruments } from './opentelemetry-instruments.ts';
import { OPENTELEMETRY_OPTIONS, type RateLimitOpenTelemetryOptions } from './opentelemetry-options.ts';

/** Measures its application from when it starts until it has closed. */
@Injectable()
export class OpenTelemetryMetrics implements OnModuleInit, OnApplicationShutdown {
  readonly #limiter: RateLimiter;
  readonly #rules: RuleBook;
  readonly #options: RateLimitOpenTelemetryOptions;
  #stop: (() => void) | undefined;

  constructor(
    @Inject(RateLimiter) limiter: RateLimiter,
    @Inject(RuleBook) rules: RuleBook,
    @Optional() @Inject(OPENTELEMETRY_OPTIONS) options: RateLimitOpenTelemetryOptions = {},
  ) {
    const example = 'a MeterProvider of OpenTelemetry';
    checkOptions('RateLimitOpenTelemetryModule', options, { name: 'meterProvider', methods: ['getMeter'], example });
    this.#limiter = limiter;
    this.#rules = rules;
    this.#options = options;
  }

  onModuleInit(): void {
    const { meterProvider = metrics.getMeterProvider() } = this.#options;
    const meter = meterProvider.getMeter('nestjs-floodgate');
    const stores = storesOf(meterProvider, (made) => addGauges(meter, made));
    const instruments = openTelemetryInstruments(meter);
    this.#stop = startMeasuring({ limiter: this.#limiter, rules: this.#rules, stores, instruments });
  }

  /** Later than the last request: Nest calls this when the HTTP server has closed. */
  onApplicationShutdown(): void {
    this.#stop?.();
  }
}
