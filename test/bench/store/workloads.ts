import { MAX_LIMIT } from '../../../src/core/charge.ts';
import type { Rule, Workload } from './workload.ts';

const WINDOW_MS = 60_000;
const rule = (limit: number): Rule => ({ limit, windowMs: WINDOW_MS });

const ONE_KEY: Workload = {
  name: 'admitted, one key',
  // More than one key is asked for in a window, or as much of it as Floodgate takes.
  rule: rule(Math.min(1_000_000, MAX_LIMIT)),
  keys: 1,
  expected: 'admitted',
};

export const MANY_KEYS: Workload = {
  name: 'admitted, 10,000 keys, small limit',
  rule: rule(100),
  keys: 10_000,
  expected: 'admitted',
};

const MANY_KEYS_LARGE_LIMIT: Workload = {
  name: 'admitted, 10,000 keys, large limit',
  rule: rule(1_000),
  keys: 10_000,
  expected: 'admitted',
};

export const REFUSED: Workload = { name: 'refused, one key', rule: rule(100), keys: 1, expected: 'refused' };

export const WORKLOADS: readonly Workload[] = [ONE_KEY, MANY_KEYS, MANY_KEYS_LARGE_LIMIT, REFUSED];
