/** What decides about a charge when the store cannot: the call is let through, or refused as unavailable. */
export type StoreErrorPolicy = 'allow' | 'deny';

/** A sentence that says what is wrong with a failure policy ("must be …"), if anything is. */
export function storeErrorPolicyFault(value: unknown): string | undefined {
  if (value === 'allow' || value === 'deny') return undefined;
  if (value === 'local') return "must be 'allow' or 'deny' ('local' is not built yet)";
  return "must be 'allow' or 'deny'";
}
