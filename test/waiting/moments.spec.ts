import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { processMoments } from '../../src/waiting/moments.ts';

describe('the moments of the process', () => {
  afterEach(() => void jest.useRealTimers());

  it('come never early', async () => {
    const earlyBy = await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const moment = performance.now() + 1 + i * 1.37;
        return new Promise<number>((resolve) => processMoments.at(moment, () => resolve(moment - performance.now())));
      }),
    );
    expect(Math.max(...earlyBy)).toBeLessThanOrEqual(0);
  });

  it('come when they have passed already', async () => {
    const moment = performance.now() - 10;
    await expect(new Promise<void>((resolve) => processMoments.at(moment, resolve))).resolves.toBeUndefined();
  });

  it('come after longer times than timers can count', () => {
    jest.useFakeTimers();
    const thirtyDaysMs = 30 * 86_400_000;
    const call = jest.fn();
    processMoments.at(processMoments.now() + thirtyDaysMs, call);
    jest.advanceTimersByTime(thirtyDaysMs - 1);
    expect(call).not.toHaveBeenCalled();
    jest.advanceTimersByTime(2);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it('do not come when they were taken back, after long times either', () => {
    jest.useFakeTimers();
    const call = jest.fn();
    const stops = [10, 30 * 86_400_000].map((ms) => processMoments.at(processMoments.now() + ms, call));
    jest.advanceTimersByTime(5);
    stops[0]!();
    jest.advanceTimersByTime(29 * 86_400_000);
    stops[1]!();
    jest.advanceTimersByTime(2 * 86_400_000);
    expect(call).not.toHaveBeenCalled();
  });
});
