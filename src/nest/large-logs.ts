import { layoutOf } from '../core/charge.ts';
import type { Rule } from './rule.ts';

/** Units: so many take more than 100 kB in an exact log. */
const LARGE_LIMIT = 1_000;

/** The rules of which each client can fill a log that takes much memory, as messages name them. */
export const withLargeLogs = (rules: Iterable<Rule>): readonly string[] =>
  [...rules]
    .filter(({ kind, limit, layout }) => {
      if (kind === 'method' || typeof limit !== 'number' || limit <= LARGE_LIMIT) return false;
      return layoutOf({ limit, layout }) === 'exact';
    })
    .map(({ writtenOn, label }) => `${writtenOn} (${label})`);
