import { Redis } from 'ioredis';

/** Why this Redis cannot be used, if it cannot. */
export async function redisFault(url: string): Promise<string | undefined> {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: 2_000, retryStrategy: () => null });
  let fault: string | undefined;
  client.on('error', (error: Error) => (fault = error.message));
  try {
    await client.connect();
    await client.ping();
    return undefined;
  } catch (error) {
    return fault ?? (error as Error).message;
  } finally {
    client.disconnect();
  }
}
