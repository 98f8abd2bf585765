import { identityInKey, type Identity } from './identity.ts';
import type { Rule } from './rule.ts';

/** Braces of a place (`/files/{*path}`) must not end the hash tag, and `#` is what separates place and name. */
const placeInKey = (place: string): string => place.replace(/[%{}#]/g, encodeURIComponent);

/**
 * The key of a rule's budget for one identity, without prefix and window, which the store adds:
 * `{ip:203.0.113.7}:POST /login`, `{method:POST /login}`, with a name `{ip:203.0.113.7}:POST /login#burst`. The braces
 * make everything of one identity share a slot. The limit is no part of it: a changed limit keeps its history.
 */
export function ruleKey({ place, suffix }: Rule, identity: Identity): string {
  const tail = suffix === '' ? '' : `#${suffix}`;
  return identity.kind === 'method'
    ? `{method:${placeInKey(place)}}${tail}`
    : `{${identityInKey(identity)}}:${placeInKey(place)}${tail}`;
}
