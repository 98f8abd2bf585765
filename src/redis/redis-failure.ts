import { RateLimitRequestError, StoreUnavailableError, type StoreFailureKind } from '../core/errors.ts';

/** Error replies of Redis by their code, and what they mean to us. */
const KIND_OF_CODE: Readonly<Record<string, StoreFailureKind>> = {
  READONLY: 'readonly',
  OOM: 'out-of-memory',
  NOPERM: 'no-permission',
  NOAUTH: 'no-permission',
  WRONGPASS: 'no-permission',
  WRONGTYPE: 'wrong-type',
  MISCONF: 'readonly',
  NOREPLICAS: 'readonly',
  CLUSTERDOWN: 'cluster-down',
  MOVED: 'cluster-down',
  ASK: 'cluster-down',
  TRYAGAIN: 'cluster-down',
  CROSSSLOT: 'cross-slot',
  LOADING: 'loading',
  MASTERDOWN: 'loading',
  BUSY: 'busy',
};
/** Redis 6.2 puts the code of an error in a script behind words of its own: `ERR Error running script …: -OOM …`. */
const CODE = new RegExp(`(?:^|[-:] ?)(${Object.keys(KIND_OF_CODE).join('|')})\\b`);

/** Errors that our own scripts raise about their arguments: faults of the caller, not of the store. */
const isOurs = (message: string): boolean => message.includes('ERR floodgate:');

/** What Lua says when a script itself is wrong: a bug of ours, which no policy may turn into an admission. */
const BUG = /user_script:\d+: (?:attempt to|bad argument)/;

/** What Redis 7 says, without a code, when a script calls a command that its user has no right to. */
const MISSING_RIGHT = /user executing the script can't|ACL failure in script/;

/** A Cluster client tells that it failed on every node, and keeps to itself why the last one did. */
const causeOf = (error: unknown): unknown => (error as { lastNodeError?: unknown } | null)?.lastNodeError ?? error;

function kindOf(message: string, isReply: boolean): StoreFailureKind {
  const code = CODE.exec(message)?.[1];
  if (code) return KIND_OF_CODE[code]!;
  if (MISSING_RIGHT.test(message)) return 'no-permission';
  return isReply ? 'unknown' : 'connection';
}

/** An error of the client as the store reports it: StoreUnavailableError, or a fault of the caller or of ours. */
export function redisFailure(error: unknown): Error {
  const cause = causeOf(error);
  const { message, name } = cause instanceof Error ? cause : new Error(String(cause));
  if (isOurs(message)) return new RateLimitRequestError(message, { cause });
  if (BUG.test(message)) return new Error(`a script of Floodgate failed: ${message}`, { cause });
  return new StoreUnavailableError(kindOf(message, name === 'ReplyError'), `Redis: ${message}`, { cause });
}
