import { LABELS } from '../../src/metrics/instruments.ts';
import type { ExportedMetric } from './meters.ts';
import type { Family } from './prometheus-text.ts';

/** Series and values of one measure: those of a histogram are how often, by its upper bounds. */
export type Series = ReadonlyMap<string, number>;

const attributeToLabel: ReadonlyMap<string, string> = new Map(
  Object.entries(LABELS).map(([label, attribute]) => [attribute, label]),
);

const seriesName = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .sort()
    .join(' ');

/** What Prometheus scraped of a measure; the sums of histograms are left out, which are no whole numbers. */
export const scrapedSeries = ({ name, samples }: Family): Series =>
  new Map(
    samples
      .filter((sample) => sample.name !== `${name}_sum`)
      .map(({ name: sample, labels, value }) => [`${sample.slice(name.length)} ${seriesName(labels)}`.trim(), value]),
  );

/** What OpenTelemetry exported of a measure, as Prometheus would name it. */
export function exportedSeries({ points }: ExportedMetric): Series {
  return new Map(
    points.flatMap(({ attributes, value, buckets }): [string, number][] => {
      const labels = Object.fromEntries(
        Object.entries(attributes).map(([attribute, text]) => [attributeToLabel.get(attribute) ?? attribute, text]),
      );
      if (!buckets) return [[seriesName(labels), value]];
      let sum = 0;
      const cumulated = buckets.counts.map((count, i): [string, number] => {
        const le = buckets.boundaries[i];
        return [`_bucket ${seriesName({ ...labels, le: le === undefined ? '+Inf' : String(le) })}`, (sum += count)];
      });
      return [...cumulated, [`_count ${seriesName(labels)}`.trim(), value]];
    }),
  );
}
