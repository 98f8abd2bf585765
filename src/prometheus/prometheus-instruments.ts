import { Counter, Gauge, Histogram, type OpenMetricsContentType, type Registry } from 'prom-client';
import { RateLimitConfigurationError } from '../core/errors.ts';
import { COUNTERS, DURATION, GAUGES, LABELS, type GaugeName, type Instrument } from '../metrics/instruments.ts';
import type { Instruments } from '../metrics/measures.ts';
import type { WatchedStores } from '../metrics/watched-stores.ts';
import { prometheusName } from './prometheus-names.ts';

export type AnyRegistry = Registry | Registry<OpenMetricsContentType>;

const NAMES = Object.fromEntries(Object.keys(LABELS).map((label) => [label, label])) as Instruments['names'];

interface Configuration {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: AnyRegistry[];
}

/** The metrics of a registry: those that are there, of another application of this process, or new ones. */
export function prometheusInstruments(registry: AnyRegistry, stores: WatchedStores): Instruments {
  const counters = mapValues(COUNTERS, (instrument) => {
    const configuration = configurationOf(instrument, 'counter', registry);
    return existing(Counter, configuration) ?? new Counter(configuration);
  });
  const durationConfiguration = configurationOf(DURATION, 'histogram', registry);
  const duration =
    existing(Histogram, durationConfiguration) ??
    new Histogram({ ...durationConfiguration, buckets: [...DURATION.buckets] });
  for (const name of Object.keys(GAUGES) as GaugeName[]) addGauge(name, registry, stores);
  return {
    names: NAMES,
    add: (counter, value, labels) => counters[counter].inc(labels, value),
    recordDuration: (seconds, labels) => duration.observe(labels, seconds),
  };
}

/** A gauge that is read when the registry is. */
function addGauge(name: GaugeName, registry: AnyRegistry, stores: WatchedStores): void {
  const configuration = configurationOf(GAUGES[name], 'gauge', registry);
  if (existing(Gauge, configuration)) return;
  const { aggregator } = GAUGES[name];
  const collect = function (this: Gauge): void {
    this.reset();
    // A gauge without labels is reset to 0, not to nothing.
    this.remove({});
    for (const { value, ...labels } of stores.read(name)) this.set(labels, value);
  };
  // oxlint-disable-next-line no-new
  new Gauge({ ...configuration, aggregator, collect });
}

function configurationOf(
  instrument: Instrument,
  kind: 'counter' | 'gauge' | 'histogram',
  registry: AnyRegistry,
): Configuration {
  return {
    name: prometheusName(instrument, kind),
    help: instrument.description,
    labelNames: [...instrument.labels],
    registers: [registry],
  };
}

/** @throws RateLimitConfigurationError where the registry has something else by that name */
function existing<M extends object>(
  type: new (...args: never[]) => M,
  { name, labelNames, registers: [registry] }: Configuration,
): M | undefined {
  const metric = registry?.getSingleMetric(name) as (M & { readonly labelNames?: readonly string[] }) | undefined;
  if (!metric) return undefined;
  if (metric instanceof type && String(metric.labelNames) === String(labelNames)) return metric;
  throw new RateLimitConfigurationError([
    `RateLimitPrometheusModule: the registry has another metric named ${name}: rename it, or give option registry another one`,
  ]);
}

const mapValues = <K extends string, V, R>(object: Readonly<Record<K, V>>, map: (value: V) => R): Record<K, R> =>
  Object.fromEntries(Object.entries<V>(object).map(([key, value]) => [key, map(value)])) as Record<K, R>;
