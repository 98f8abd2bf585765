import { StoreUnavailableError, type StoreFailureKind } from '../core/errors.ts';

/** The first word of an error reply, and what it means to us. */
const KIND_OF_REPLY: Readonly<Record<string, StoreFailureKind>> = {
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

/** Errors that our own scripts raise about their arguments: faults of the caller, not of the store. */
const isOurs = (message: string): boolean => message.includes('ERR floodgate:');

/** An error of the client as the store reports it: StoreUnavailableError, or the error itself when it is a fault. */
export function redisFailure(error: unknown): Error {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (isOurs(message)) return new TypeError(message, { cause: error });
  const isReply = (error as Error).name === 'ReplyError';
  const kind = isReply ? (KIND_OF_REPLY[message.split(' ', 1)[0]!] ?? 'unknown') : 'connection';
  return new StoreUnavailableError(kind, `Redis: ${message}`, { cause: error });
}
