import { addRules } from './rule-metadata.ts';

/**
 * Exempts a route or a controller from the rules that stand further out: from all of them, or from those of these
 * names. Rules written beside it still apply. A name that no rule further out has fails the start.
 */
export function SkipRateLimit(...names: readonly string[]): ClassDecorator & MethodDecorator {
  return addRules(names.length > 0 ? { skipped: names } : { skipsAll: true });
}
