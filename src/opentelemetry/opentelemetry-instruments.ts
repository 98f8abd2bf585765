import type { Meter, MetricOptions } from '@opentelemetry/api';
import { COUNTERS, DURATION, GAUGES, LABELS, type GaugeName, type Instrument } from '../metrics/instruments.ts';
import type { Instruments } from '../metrics/measures.ts';
import type { WatchedStores } from '../metrics/watched-stores.ts';

const optionsOf = ({ unit, description }: Instrument): MetricOptions => ({ unit, description });

/** What is counted by a meter; one meter gives the same counter to each application of this process. */
export function openTelemetryInstruments(meter: Meter): Instruments {
  const counter = (instrument: Instrument) => meter.createCounter(instrument.name, optionsOf(instrument));
  const counters = {
    decisions: counter(COUNTERS.decisions),
    nearLimitDecisions: counter(COUNTERS.nearLimitDecisions),
    storeFailures: counter(COUNTERS.storeFailures),
    memoryLosses: counter(COUNTERS.memoryLosses),
    clockSteps: counter(COUNTERS.clockSteps),
    warnings: counter(COUNTERS.warnings),
  };
  const duration = meter.createHistogram(DURATION.name, {
    ...optionsOf(DURATION),
    advice: { explicitBucketBoundaries: [...DURATION.buckets] },
  });
  return {
    names: LABELS,
    add: (name, value, attributes) => counters[name].add(value, attributes),
    recordDuration: (seconds, attributes) => duration.record(seconds, attributes),
  };
}

/** Gauges of a meter that are read when it is; once for a meter. */
export function addGauges(meter: Meter, stores: WatchedStores): void {
  for (const name of Object.keys(GAUGES) as GaugeName[]) {
    const instrument = GAUGES[name];
    meter.createObservableGauge(instrument.name, optionsOf(instrument)).addCallback((result) => {
      for (const { value, state } of stores.read(name)) {
        result.observe(value, state === undefined ? {} : { [LABELS.state]: state });
      }
    });
  }
}
