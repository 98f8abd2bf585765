import { Redis } from 'ioredis';
import { startRedisServer, type RedisServer } from './redis-server.ts';

/** A Redis Cluster of real processes, masters only. */
export interface RedisCluster {
  readonly ports: readonly number[];
  /** Runs something on each master. */
  onEach<T>(run: (master: Redis) => Promise<T>): Promise<readonly T[]>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;

export async function startRedisCluster(masters = 3): Promise<RedisCluster> {
  const args = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '2000'];
  const servers: RedisServer[] = [];
  for (let i = 0; i < masters; i++) servers.push(await startRedisServer({ args }));
  const clients = servers.map(({ url }) => new Redis(url));
  const firstSlot = (i: number): number => Math.floor((SLOTS / masters) * i);
  for (const [i, client] of clients.entries()) {
    await client.cluster('ADDSLOTSRANGE', firstSlot(i), firstSlot(i + 1) - 1);
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    if (i > 0) await client.cluster('MEET', '127.0.0.1', servers[0]!.port);
  }
  const isWhole = async (client: Redis): Promise<boolean> => {
    const info = (await client.cluster('INFO')) as string;
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${masters}`);
  };
  // Redis itself takes 2 s before a fresh master serves.
  while (!(await Promise.all(clients.map(isWhole))).every(Boolean))
    await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    ports: servers.map(({ port }) => port),
    onEach: (run) => Promise.all(clients.map(run)),
    async stop() {
      for (const client of clients) client.disconnect();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
