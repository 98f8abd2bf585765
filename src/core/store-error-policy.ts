/**
 * What decides about a charge when the store cannot. `local`: a limiter in this process with the same rule, which knows
 * what the process admitted in the last window. `allow`: the call is let through. `deny`: it is refused as unavailable.
 */
export type StoreErrorPolicy = 'local' | 'allow' | 'deny';

const POLICIES: readonly unknown[] = ['local', 'allow', 'deny'] satisfies StoreErrorPolicy[];

/** A sentence that says what is wrong with a failure policy ("must be …"), if anything is. */
export const storeErrorPolicyFault = (value: unknown): string | undefined =>
  POLICIES.includes(value) ? undefined : "must be 'local', 'allow' or 'deny'";
