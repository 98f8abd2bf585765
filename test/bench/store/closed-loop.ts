import { quantile } from '../statistics.ts';

/** What a number of callers saw, each of which asks again as soon as it has its answer. */
export interface LoopResult {
  readonly decisions: number;
  readonly admitted: number;
  readonly perSecond: number;
  /** CPU time of this process. */
  readonly cpuUsPerDecision: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

interface Loop {
  readonly decide: (key: string) => Promise<boolean>;
  readonly keyOf: (decision: number) => string;
  readonly inFlight: number;
  readonly forMs: number;
}

export async function closedLoop({ decide, keyOf, inFlight, forMs }: Loop): Promise<LoopResult> {
  const latenciesMs: number[] = [];
  let begun = 0;
  let admitted = 0;
  const cpuBefore = process.cpuUsage();
  const beginsAt = performance.now();
  const endsAt = beginsAt + forMs;
  const caller = async (): Promise<void> => {
    for (let askedAt = performance.now(); askedAt < endsAt;) {
      if (await decide(keyOf(begun++))) admitted++;
      const answeredAt = performance.now();
      latenciesMs.push(answeredAt - askedAt);
      askedAt = answeredAt;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const seconds = (performance.now() - beginsAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    decisions: begun,
    admitted,
    perSecond: begun / seconds,
    cpuUsPerDecision: (user + system) / begun,
    p50Us: quantile(sorted, 0.5) * 1_000,
    p99Us: quantile(sorted, 0.99) * 1_000,
  };
}
