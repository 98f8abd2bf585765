import { identityInKey, type Identity } from './identity.ts';
import type { Rule } from './rule.ts';

/** Braces of a place (`/files/{*path}`) must not end the hash tag, and `#` is what separates place and name. */
const placeInKey = (place: string): string => place.replace(/[%{}#]/g, encodeURIComponent);

/**
 * The key of a rule's budget for one identity, without prefix and window, which the store adds:
 * `{ip:203.0.113.7}:POST /login`, `{method:POST /login}`, with a name `{ip:203.0.113.7}:POST /login#burst`. The braces
 * make everything of one identity share a slot. The log of a rule in shadow ends in `#~shadow`, `#burst~shadow`. The
 * limit is no part of it: a changed limit keeps its history.
 */
export function ruleKey(rule: Rule, identity: Identity, isShadow = false): string {
  let ends = endsOf.get(rule);
  if (!ends) endsOf.set(rule, (ends = keyEnds(rule)));
  const key = identity.kind === 'method' ? ends.ofMethod : `{${identityInKey(identity)}}${ends.ofOthers}`;
  return isShadow ? `${key}${rule.suffix === '' ? '#' : ''}~shadow` : key;
}

/** What is the same for all identities of a rule. */
const endsOf = new WeakMap<Rule, { readonly ofMethod: string; readonly ofOthers: string }>();

function keyEnds({ place, suffix }: Rule): { readonly ofMethod: string; readonly ofOthers: string } {
  const tail = suffix === '' ? '' : `#${suffix}`;
  return { ofMethod: `{method:${placeInKey(place)}}${tail}`, ofOthers: `:${placeInKey(place)}${tail}` };
}
