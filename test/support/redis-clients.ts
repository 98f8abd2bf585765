import { Redis } from 'ioredis';

const PATIENCE_MS = 500;

/** A client for the support itself: quiet while its server is away, and there again soon after it. */
export function supportClient(url: string): Redis {
  const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  return client.on('error', () => undefined);
}

/** What those answer whose servers do answer: some may be killed or paused. */
export async function answersOf<T>(clients: readonly Redis[], ask: (client: Redis) => Promise<T>): Promise<T[]> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE_MS, undefined).unref());
  const asked = clients.map(async (client) => {
    const answer = ask(client).catch(() => undefined);
    return Promise.race([answer, late]);
  });
  return (await Promise.all(asked)).filter((answer) => answer !== undefined);
}
