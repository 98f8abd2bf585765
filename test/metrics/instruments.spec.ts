import { describe, expect, it } from '@jest/globals';
import { COUNTERS, DURATION, GAUGES, LABELS, type Instrument } from '../../src/metrics/instruments.ts';
import { prometheusName } from '../../src/prometheus/prometheus-names.ts';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';

const ALL: readonly (readonly [Instrument, 'counter' | 'gauge' | 'histogram'])[] = [
  ...Object.values(COUNTERS).map((instrument) => [instrument, 'counter'] as const),
  [DURATION, 'histogram'],
  ...Object.values(GAUGES).map((instrument) => [instrument, 'gauge'] as const),
];

describe('the measures', () => {
  it('have names of each convention, made from one', () => {
    expect(
      ALL.map(([instrument, kind]) => [instrument.name, instrument.unit, prometheusName(instrument, kind)]),
    ).toEqual([
      ['floodgate.decisions', '{decision}', 'floodgate_decisions_total'],
      ['floodgate.near_limit.decisions', '{decision}', 'floodgate_near_limit_decisions_total'],
      ['floodgate.store.failures', '{failure}', 'floodgate_store_failures_total'],
      ['floodgate.store.memory_losses', '{loss}', 'floodgate_store_memory_losses_total'],
      ['floodgate.store.clock_steps', '{step}', 'floodgate_store_clock_steps_total'],
      ['floodgate.warnings', '{warning}', 'floodgate_warnings_total'],
      ['floodgate.decision.duration', 's', 'floodgate_decision_duration_seconds'],
      ['floodgate.store.available', '{store}', 'floodgate_store_available'],
      ['floodgate.store.circuit.state', '{circuit}', 'floodgate_store_circuit_state'],
      ['floodgate.store.latency', 's', 'floodgate_store_latency_seconds'],
    ]);
  });

  it('are all in the table of the README, with their labels', () => {
    const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
    const section = /\n## Metrics\n(.*?)\n## /s.exec(readme)![1]!;
    const rows = [...section.matchAll(/^\| `(floodgate_\w+)` +\| `(floodgate[\w.]+)`, `([^`]+)` +\| (.*?) +\|/gm)];
    const labelsOf = (cell: string): readonly string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, label]) => label!);
    expect(
      rows.map(([, prometheus, name, unit, cell]) => ({ prometheus, name, unit, labels: labelsOf(cell!) })),
    ).toEqual(
      ALL.map(([instrument, kind]) => ({
        prometheus: prometheusName(instrument, kind),
        name: instrument.name,
        unit: instrument.unit,
        labels: instrument.labels,
      })),
    );
    const told = [...section.matchAll(/`(\w+)`\sis\s`([\w.]+)`/g)].map(([, label, attribute]) => [label, attribute]);
    expect(Object.fromEntries(told)).toEqual(LABELS);
  });

  it('have buckets from 50 µs to 1 s', () => {
    const { buckets } = DURATION;
    expect([buckets[0], buckets.at(-1)]).toEqual([50e-6, 1]);
    expect([...buckets].sort((a, b) => a - b)).toEqual([...buckets]);
  });
});
