import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

/** A measure as the SDK exported it. */
export interface ExportedMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly scope: string;
  readonly points: readonly Point[];
}

interface Point {
  readonly attributes: Readonly<Record<string, string>>;
  /** Of a histogram, how many values there were. */
  readonly value: number;
  /** Of a histogram: the values in each bucket, and the upper bounds of all but the last. */
  readonly buckets?: { readonly boundaries: readonly number[]; readonly counts: readonly number[] };
}

/** The SDK of OpenTelemetry with an exporter in memory. */
export class Meters {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#exporter,
    exportIntervalMillis: 2 ** 31 - 1,
    exportTimeoutMillis: 30_000,
  });
  readonly provider = new MeterProvider({ readers: [this.#reader] });

  /** All that is measured at this moment, by name. */
  async collect(): Promise<ReadonlyMap<string, ExportedMetric>> {
    this.#exporter.reset();
    await this.#reader.forceFlush();
    const exported = this.#exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    return new Map(
      exported.flatMap(({ scope, metrics }) =>
        metrics.map(({ descriptor: { name, unit, description }, ...metric }) => {
          const points =
            metric.dataPointType === DataPointType.HISTOGRAM
              ? metric.dataPoints.map(({ attributes, value }) => ({
                  attributes: attributes as Point['attributes'],
                  value: value.count,
                  buckets: value.buckets,
                }))
              : metric.dataPoints.map(({ attributes, value }) => ({
                  attributes: attributes as Point['attributes'],
                  value: value as number,
                }));
          return [name, { name, unit, description, scope: scope.name, points }] as const;
        }),
      ),
    );
  }

  stop(): Promise<void> {
    return this.provider.shutdown();
  }
}
