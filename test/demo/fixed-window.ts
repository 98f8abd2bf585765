import type { Limiter } from './limiter.ts';

/** A counter that starts anew with every window of the clock: at 10 s, at 20 s, … */
export function fixedWindow(limit: number, windowMs: number): Limiter {
  let current = -Infinity;
  let count = 0;
  return (nowMs) => {
    const window = Math.floor(nowMs / windowMs);
    if (window !== current) [current, count] = [window, 0];
    if (count >= limit) return false;
    count++;
    return true;
  };
}
