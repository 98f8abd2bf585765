import type { Instrument } from '../metrics/instruments.ts';

/**
 * The name that Prometheus has for a measure, as OpenTelemetry would translate it: underscores for dots, the unit in
 * full, `_total` for what is counted.
 */
export function prometheusName({ name, unit }: Instrument, kind: 'counter' | 'gauge' | 'histogram'): string {
  const inUnits = unit === 's' ? '_seconds' : '';
  const counted = kind === 'counter' ? '_total' : '';
  return `${name.replaceAll('.', '_')}${inUnits}${counted}`;
}
