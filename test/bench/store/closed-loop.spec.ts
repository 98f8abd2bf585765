import { describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { closedLoop } from './closed-loop.ts';

describe('a closed loop', () => {
  it('keeps as many decisions in flight as it was told, each about a key of its own, and counts the admitted', async () => {
    let inFlight = 0;
    let mostInFlight = 0;
    const keys: string[] = [];
    const result = await closedLoop({
      async decide(key) {
        keys.push(key);
        mostInFlight = Math.max(mostInFlight, ++inFlight);
        await wait(1);
        inFlight--;
        return Number(key) % 2 === 0;
      },
      keyOf: String,
      inFlight: 4,
      forMs: 30,
    });
    expect(mostInFlight).toBe(4);
    expect(keys).toEqual(keys.map((_, i) => String(i)));
    expect(result.decisions).toBe(keys.length);
    expect(result.admitted).toBe(Math.ceil(keys.length / 2));
    expect(result.p50Us).toBeGreaterThan(500);
  });
});
