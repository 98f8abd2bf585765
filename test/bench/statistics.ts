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
