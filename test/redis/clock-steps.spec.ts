import { describe, expect, it } from '@jest/globals';
import { ClockSteps } from '../../src/redis/clock-steps.ts';

const AHEAD_MS = 1_700_000_000_000;

/** The steps that are told of replies: server's time ahead by, way there, way back; one after another. */
function stepsTold(replies: readonly (readonly [aheadMs: number, thereMs: number, backMs: number])[]) {
  const told: number[] = [];
  const clock = new ClockSteps((byMs) => told.push(byMs));
  let now = 0;
  for (const [ahead, there, back] of replies) {
    const sentAt = now;
    const decidedAt = (now += there);
    now += back;
    clock.note(AHEAD_MS + ahead + decidedAt, sentAt, now);
    now += 1_000;
  }
  return told;
}

describe('a step of the server’s clock', () => {
  it.each<[string, readonly (readonly [number, number, number])[], readonly number[]]>([
    [
      'is none in steady replies',
      [
        [0, 1, 1],
        [0, 1, 1],
        [0, 1, 1],
      ],
      [],
    ],
    [
      'is none when a reply is slow',
      [
        [0, 1, 1],
        [0, 1, 5_000],
        [0, 5_000, 1],
        [0, 1, 1],
      ],
      [],
    ],
    [
      'is none while the clock is slewed',
      [
        [0, 1, 1],
        [50, 1, 1],
        [100, 1, 1],
      ],
      [],
    ],
    [
      'is told when it goes forwards',
      [
        [0, 0, 0],
        [5_000, 0, 0],
      ],
      [5_000],
    ],
    [
      'is told when it goes backwards',
      [
        [0, 0, 0],
        [-5_000, 0, 0],
      ],
      [-4_999],
    ],
    [
      'is told once',
      [
        [0, 1, 1],
        [5_000, 1, 1],
        [5_000, 1, 1],
        [5_000, 1, 1],
      ],
      [4_997],
    ],
    [
      'is told by what it is at least, when replies take their time',
      [
        [0, 0, 200],
        [5_000, 0, 100],
      ],
      [4_899],
    ],
    [
      'is not told below half a second',
      [
        [0, 0, 0],
        [499, 0, 0],
      ],
      [],
    ],
    [
      'is told each time',
      [
        [0, 0, 0],
        [1_000, 0, 0],
        [0, 0, 0],
      ],
      [1_000, -999],
    ],
  ])('%s', (_, replies, told) => {
    expect(stepsTold(replies)).toEqual(told);
  });

  it('is none when two clocks drifted apart while nothing was heard', () => {
    const told: number[] = [];
    const clock = new ClockSteps((byMs) => told.push(byMs));
    const hour = 3_600_000;
    clock.note(AHEAD_MS, 0, 0);
    clock.note(AHEAD_MS + hour + 1_700, hour, hour);
    clock.note(AHEAD_MS + 2 * hour, 2 * hour, 2 * hour);
    expect(told).toEqual([]);
    clock.note(AHEAD_MS + 2 * hour + 1_700, 2 * hour, 2 * hour);
    expect(told).toEqual([1_700]);
  });
});
