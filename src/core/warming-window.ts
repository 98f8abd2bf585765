import { isAffordable, roomFor, type Charge } from './charge.ts';
import { Climb, type WarmUpState } from './climb.ts';
import type { Reading } from './decision.ts';
import { readWindow } from './sliding-window.ts';
import type { WarmUp } from './warm-up.ts';
import type { WindowLog } from './window-log.ts';

/** As {@link readWindow}, by the limit that the warm-up of the charge has reached at this moment. */
export function readWarmingWindow(
  charge: Charge & { readonly warmUp: WarmUp },
  log: WindowLog | undefined,
  state: WarmUpState | undefined,
  now: number,
): Reading {
  const climb = new Climb(charge, charge.warmUp);
  const limit = climb.limitAt(state, now);
  const reading = readWindow({ ...charge, limit, warmUp: undefined }, log, now);
  if (!isAffordable(charge)) return { ...reading, refusal: {} };
  if (!log || !reading.refusal) return reading;
  return { ...reading, refusal: { retryAfterMs: firstRoom(charge, log, now, { climb, state }) } };
}

/**
 * Whole milliseconds until the charge has room if nobody else takes it. Until the schedule of what was admitted ends, the
 * limit climbs and the log empties, so the first moment is found by halves; later the limit falls, and only what leaves
 * the window makes room.
 */
function firstRoom(
  charge: Charge,
  log: WindowLog,
  now: number,
  { climb, state }: { readonly climb: Climb; readonly state: WarmUpState | undefined },
): number {
  const [windowMs, room] = [charge.windowMs, roomFor(charge)];
  const liveAt = (ms: number): number => log.unitsAfter(now + ms - windowMs);
  const isRefusedAt = (ms: number): boolean => liveAt(ms) + room > climb.limitAt(state, now + ms);
  const climbing = state ? Math.max(0, Math.floor(state.idleFrom - now)) : 0;
  if (climbing > 0 && !isRefusedAt(climbing)) {
    let [refused, admitted] = [0, climbing];
    while (admitted - refused > 1) {
      const between = Math.floor((refused + admitted) / 2);
      if (isRefusedAt(between)) refused = between;
      else admitted = between;
    }
    return admitted;
  }
  let ms = climbing + 1;
  while (isRefusedAt(ms)) {
    const tooMany = liveAt(ms) + room - climb.limitAt(state, now + ms);
    const leavesAt = log.timeOfUnit(tooMany, now + ms - windowMs) + windowMs;
    ms = Math.max(ms + 1, Math.ceil(leavesAt - now));
  }
  return ms;
}
