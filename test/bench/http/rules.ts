import { MAX_LIMIT } from '../../../src/core/charge.ts';
import type { Rule } from '../store/workload.ts';
import type { Traffic } from './application.ts';

/** The limit on each client. */
export const RULE_FOR: Readonly<Record<Traffic, Rule>> = {
  // More than one client asks for in a window, within what Floodgate takes.
  admitted:
    MAX_LIMIT < 1_000_000 ? { limit: MAX_LIMIT, windowMs: MAX_LIMIT / 50 } : { limit: 1_000_000, windowMs: 60_000 },
  refused: { limit: 1, windowMs: 600_000 },
};
