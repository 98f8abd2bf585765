/** What the application was configured with cannot work. The message names each place, option and value. */
export class RateLimitConfigurationError extends Error {
  /** Tells this error apart from others, also between copies of the library. */
  override readonly name = 'RateLimitConfigurationError';

  /** @param faults one sentence each: where, which option, which value, what would be right. */
  constructor(readonly faults: readonly string[]) {
    super(
      faults.length === 1
        ? `Rate limiting is misconfigured: ${faults[0]}`
        : `Rate limiting is misconfigured in ${faults.length} places:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
}

/**
 * Why a store could not answer. `timeout`: not within the deadline; `connection`: not connected, or no longer. In both
 * cases the call may have been charged all the same. `full`: the in-process store tracks as many keys as it may.
 * `overloaded`: too many calls wait for it already. `circuit-open`: it failed lately, so it was not asked. The others are
 * named after the error reply of Redis.
 */
export type StoreFailureKind =
  | 'timeout'
  | 'connection'
  | 'full'
  | 'readonly'
  | 'out-of-memory'
  | 'no-permission'
  | 'wrong-type'
  | 'cluster-down'
  | 'cross-slot'
  | 'loading'
  | 'busy'
  | 'overloaded'
  | 'circuit-open'
  | 'unknown';

/** What a store was asked is wrong: the id, or a field of a charge. A fault of the caller, whatever state it is in. */
export class RateLimitRequestError extends TypeError {
  /** Tells this error apart from others, also between copies of the library. */
  override readonly name = 'RateLimitRequestError';
}

/** The store cannot decide. Never an answer about a limit. */
export class StoreUnavailableError extends Error {
  /** Tells this error apart from others, also between copies of the library. */
  override readonly name: string = 'StoreUnavailableError';

  constructor(
    /** What is in the way. */
    readonly kind: StoreFailureKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Failures that say nothing about the next request. */
const OF_ONE_REQUEST: ReadonlySet<StoreFailureKind> = new Set(['full', 'wrong-type', 'cross-slot']);

export const isOfOneRequest = ({ kind }: StoreUnavailableError): boolean => OF_ONE_REQUEST.has(kind);

/** The in-process store tracks as many live keys as it may, and these are not among them. Nothing was charged. */
export class StoreFullError extends StoreUnavailableError {
  /** Tells this error apart from others, also between copies of the library. */
  override readonly name = 'StoreFullError';

  /** @param untracked the names of the logs that have no room (`key:windowMs`); the others can still be decided. */
  constructor(
    readonly untracked: ReadonlySet<string>,
    maxKeys: number,
  ) {
    super('full', `the in-process store holds ${maxKeys} live keys already`);
  }
}
