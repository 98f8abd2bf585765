import { describe, expect, it } from '@jest/globals';
import type { StoreCell } from './measure.ts';
import { summarizeStores } from './summary.ts';

const redis = { cpuUs: 1, scriptUs: 1, scriptCalls: 1, commands: 1, bytesIn: 1, bytesOut: 1 };
const cell = (round: number, limiter: StoreCell['limiter'], perSecond: number): StoreCell => ({
  round,
  limiter,
  workload: 'admitted',
  inFlight: 50,
  client: { decisions: 1, admitted: 1, perSecond, cpuUsPerDecision: 1, p50Us: 1e6 / perSecond, p99Us: 1 },
  redis,
});

describe('the summary of stores', () => {
  it('compares within a round, so that a slow round changes no ratio', () => {
    const rounds = [
      { empty: 1_000, own: 1_100 },
      { empty: 100, own: 120 },
      { empty: 500, own: 650 },
    ];
    const cells = rounds.flatMap(({ empty, own }, i) => [cell(i, 'empty script', empty), cell(i, 'floodgate', own)]);
    const [ceiling, ours] = summarizeStores(cells);
    expect(ceiling).toMatchObject({ limiter: 'empty script', ratio: 1, perSecond: 500, p50OverCeilingUs: 0 });
    expect(ours).toMatchObject({ limiter: 'floodgate', ratio: 1.2, perSecond: 650 });
  });
});
