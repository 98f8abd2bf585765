import { median, slope } from '../statistics.ts';

/** What was seen at the end of a period. */
export interface Sample {
  /** Since the begin of the soak. */
  readonly minutes: number;
  readonly heapBytes: number;
  readonly redisBytes: number;
  /** Of the visits in this period. */
  readonly p99Ms: number;
}

const MEGABYTE = 1_048_576;

/** Growth over the last two thirds, by the line that fits best: less than a few bytes for each visit. */
const MOST_HEAP_GROWTH_BYTES = 2 * MEGABYTE;
const MOST_REDIS_GROWTH_BYTES = MEGABYTE;
/** By how much the last third may be slower than the first; below that many milliseconds nothing is slow. */
const MOST_SLOWER = 3;
const NEVER_SLOW_MS = 50;
/** Timers come and go, a few at any moment. */
const MOST_NEW_RESOURCES = 2;

export const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(2);

export const TOLERANCES =
  `Allowed over the last two thirds: ${megabytes(MOST_HEAP_GROWTH_BYTES)} MB more heap after a garbage collection, ` +
  `${megabytes(MOST_REDIS_GROWTH_BYTES)} MB more in Redis; in the last third: ${MOST_SLOWER} times the p99 of the first, ` +
  `or ${NEVER_SLOW_MS} ms; in the end: ${MOST_NEW_RESOURCES} more handles of a kind than after the first seconds.`;

/** What speaks against it that this can go on forever, one sentence each. At least three samples. */
export function violations(
  samples: readonly Sample[],
  resources: { readonly before: readonly string[]; readonly after: readonly string[] },
): readonly string[] {
  const third = Math.floor(samples.length / 3);
  const settled = samples.slice(third);
  const faults: string[] = [];
  const limitGrowth = (what: string, of: (sample: Sample) => number, most: number): void => {
    const bytes = growth(settled, of);
    if (bytes > most) faults.push(`${what} grew by ${megabytes(bytes)} MB, more than ${megabytes(most)}`);
  };
  limitGrowth('the heap', ({ heapBytes }) => heapBytes, MOST_HEAP_GROWTH_BYTES);
  limitGrowth('Redis', ({ redisBytes }) => redisBytes, MOST_REDIS_GROWTH_BYTES);
  const p99Of = (some: readonly Sample[]): number => median(some.map(({ p99Ms }) => p99Ms));
  const [early, late] = [p99Of(samples.slice(0, third)), p99Of(samples.slice(-third))];
  if (late > Math.max(NEVER_SLOW_MS, early * MOST_SLOWER)) {
    faults.push(`p99 went from ${early.toFixed(1)} ms to ${late.toFixed(1)} ms`);
  }
  for (const [type, count] of countedTypes(resources.after)) {
    const before = countedTypes(resources.before).get(type) ?? 0;
    if (count > before + MOST_NEW_RESOURCES) faults.push(`there were ${before} ${type}, and in the end ${count}`);
  }
  return faults;
}

function growth(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const lasted = samples.at(-1)!.minutes - samples[0]!.minutes;
  return slope(samples.map((sample) => [sample.minutes, of(sample)] as const)) * lasted;
}

const countedTypes = (types: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
};
