import { describe, expect, it } from '@jest/globals';
import { survives } from './chaos.ts';
import { heapOverOutage, MOST_GROWTH_BYTES } from './memory.ts';
import { cut, flushed, restarted } from './scenarios/losses.ts';

const OUTAGE_MS = 20_000;

describe('an application', () => {
  survives(restarted);
  survives(cut);
  survives(flushed);

  it('keeps nothing of the addresses that called in an outage, once their window is over', async () => {
    const { early, late } = await heapOverOutage(OUTAGE_MS);
    expect(late - early).toBeLessThan(MOST_GROWTH_BYTES);
  }, 60_000);
});
