import { describe, expect, it } from '@jest/globals';
import { MemoryAge } from '../../src/redis/memory-age.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MS = 1_000;
const T = 1_700_000_000_000 * MS;

const setUp = () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const age = new MemoryAge((extent) => told.push(extent), clock.now);
  return { clock, told, age };
};

describe('the age of a memory', () => {
  it('is the time since its epoch, on the clock of the server', () => {
    const { age } = setUp();
    expect(age.of('e', T, T)).toBe(0);
    expect(age.of('e', T, T + 1_500)).toBe(1.5);
    expect(age.of('e', T, T + 60_000 * MS)).toBe(60_000);
  });

  it('begins anew with a younger epoch, which is told once', () => {
    const { age, told } = setUp();
    age.of('e', T, T + 5_000 * MS);
    expect(told).toEqual([]);
    expect(age.of('e', T + 6_000 * MS, T + 6_000 * MS)).toBe(0);
    age.of('e', T + 6_000 * MS, T + 7_000 * MS);
    expect(told).toEqual(['all']);
  });

  it('is known for each epoch by itself', () => {
    const { age, told } = setUp();
    age.of('a', T, T + 1_000 * MS);
    expect(age.of('b', T + 500 * MS, T + 1_000 * MS)).toBe(500);
    expect(told).toEqual([]);
  });

  it('is no loss when the epoch is older: the clock stepped back', () => {
    const { age, told } = setUp();
    age.of('e', T, T + 1_000 * MS);
    expect(age.of('e', T - 5_000 * MS, T - 5_000 * MS)).toBe(0);
    expect(told).toEqual([]);
  });

  it('is not longer than the time since another server took over, which is told with the next decision', () => {
    const { age, told, clock } = setUp();
    age.of('e', T, T + 60_000 * MS);
    clock.advance(10);
    age.doubt();
    expect(told).toEqual([]);
    clock.advance(5);
    expect(age.of('e', T, T + 60_010 * MS)).toBe(5);
    clock.advance(100);
    expect(age.of('e', T, T + 60_110 * MS)).toBe(105);
    expect(told).toEqual(['latest']);
  });

  it('of a server that came back with nothing is told as one loss', () => {
    const { age, told } = setUp();
    age.of('e', T, T + 60_000 * MS);
    age.doubt();
    age.of('e', T + 61_000 * MS, T + 61_000 * MS);
    age.of('e', T + 61_000 * MS, T + 62_000 * MS);
    expect(told).toEqual(['all']);
  });
});
