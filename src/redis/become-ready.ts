import { StoreUnavailableError } from '../core/errors.ts';
import type { RedisClient } from './redis-client.ts';
import { redisFailure } from './redis-failure.ts';

/**
 * Waits until commands can be sent, at most so long. A client that the application made lazy is told to connect: we
 * never send to one that is not ready, so nothing else would.
 *
 * @returns what is in the way, if anything is; at once when it is a password, which waiting does not mend
 */
export function becomeReady(client: RedisClient, patienceMs: number): Promise<StoreUnavailableError | undefined> {
  if (client.status === 'ready') return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let failure: StoreUnavailableError | undefined;
    const settle = (result: StoreUnavailableError | undefined): void => {
      clearTimeout(timer);
      client.removeListener('ready', onReady);
      client.removeListener('error', onError);
      resolve(result);
    };
    const onReady = (): void => settle(undefined);
    const onError = (error: unknown): void => {
      const known = redisFailure(error);
      // That it was silent for too long says less than what there is to say in the end.
      if (known instanceof StoreUnavailableError && !/timed ?out/i.test(known.message)) failure = known;
      if (failure?.kind === 'no-permission') settle(failure);
    };
    const timer = setTimeout(() => settle(failure ?? notReady(patienceMs)), patienceMs);
    client.on('ready', onReady);
    client.on('error', onError);
    // The error events tell what goes wrong; the promise only repeats the first.
    if (client.status === 'wait') client.connect().catch(() => undefined);
  });
}

const notReady = (patienceMs: number): StoreUnavailableError =>
  new StoreUnavailableError(
    'connection',
    `Redis is not ready after ${patienceMs} ms: does it speak TLS, and is it told so (rediss://, or the option tls)?`,
  );
