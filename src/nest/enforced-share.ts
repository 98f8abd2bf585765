import { createHash } from 'node:crypto';
import { identityInKey, type Identity } from './identity.ts';
import type { Rule } from './rule.ts';

const HASH_BYTES = 6;
const HASHES = 2 ** (8 * HASH_BYTES);

/**
 * Whether the rule is enforced for this identity: so for `enforcePercent` of all, by a hash of what the rule is called, or
 * limits, and whose budget it is. It is the same in every process, and who is enforced stays so while the share grows.
 */
export function isEnforcedFor({ enforcePercent, isBucket, name, place }: Rule, identity: Identity): boolean {
  if (enforcePercent === 100) return true;
  if (enforcePercent === 0) return false;
  const subject = isBucket || name === undefined ? place : `#${name}`;
  const hash = createHash('sha256')
    .update(`${identityInKey(identity)} ${subject}`)
    .digest();
  return (hash.readUIntBE(0, HASH_BYTES) / HASHES) * 100 < enforcePercent;
}

/** The logs that a rule may charge: those of enforced identities, of others, or both. */
export const isEverEnforced = ({ enforcePercent }: Pick<Rule, 'enforcePercent'>): boolean => enforcePercent > 0;
export const isEverInShadow = ({ enforcePercent }: Pick<Rule, 'enforcePercent'>): boolean => enforcePercent < 100;
