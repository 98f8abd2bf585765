import { RateLimitRequestError, StoreUnavailableError, type StoreFailureKind } from '../core/errors.ts';

/** Error replies of Redis by their code, and what they mean to us. */
const KIND_OF_CODE: Readonly<Record<string, StoreFailureKind>> = {
  READONLY: 'readonly',
  OOM: 'out-of-memory',
  NOPERM: 'no-permission',
  NOAUTH: 'no-permission',
  WRONGPASS: 'no-permission',
  WRONGTYPE: 'wrong-type',
  CLUSTERDOWN: 'cluster-down',
  CROSSSLOT: 'cross-slot',
  LOADING: 'loading',
  MASTERDOWN: 'loading',
  BUSY: 'busy',
};
/** Redis 6.2 puts the code of an error in a script behind words of its own: `ERR Error running script …: -OOM …`. */
const CODE = new RegExp(`(?:^|[-:] ?)(${Object.keys(KIND_OF_CODE).join('|')})\\b`);

/** Errors that our own scripts raise about their arguments: faults of the caller, not of the store. */
const isOurs = (message: string): boolean => message.includes('ERR floodgate:');

/** An error of the client as the store reports it: StoreUnavailableError, or the error itself when it is a fault. */
export function redisFailure(error: unknown): Error {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (isOurs(message)) return new RateLimitRequestError(message, { cause: error });
  const code = CODE.exec(message)?.[1];
  const isReply = (error as Error).name === 'ReplyError';
  const kind = code ? KIND_OF_CODE[code]! : isReply ? 'unknown' : 'connection';
  return new StoreUnavailableError(kind, `Redis: ${message}`, { cause: error });
}
