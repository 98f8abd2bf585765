/** Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1; beyond the table the normal one. */
const T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086,
];

/** The mean of independent measurements, and the interval in which it lies with 95 % confidence. */
export function meanWithInterval(values: readonly number[]): { mean: number; least: number; most: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1);
  const half = (T_95[values.length - 2] ?? 1.96) * Math.sqrt(variance / values.length);
  return { mean, least: mean - half, most: mean + half };
}

/** @param sorted ascending, not empty */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** Of at least one value. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Between which the middle half of the values lies. */
export function quartiles(values: readonly number[]): [number, number] {
  const sorted = ascending(values);
  return [quantile(sorted, 0.25), quantile(sorted, 0.75)];
}

/** By how much y grows with each unit of x, on the straight line that fits best. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanOf = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [meanX, meanY] = [meanOf(0), meanOf(1)];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
