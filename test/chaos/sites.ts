import { Cluster, type Redis } from 'ioredis';
import { supportClient } from '../support/redis-clients.ts';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.ts';
import { startSentinelSet, type SentinelSet } from '../support/redis-sentinel.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { SALE } from './routes.ts';
import type { Site } from './scenario.ts';

/** The log of the sale. */
export const SALE_KEY = `rl:{method:GET /sale}:${SALE.windowMs}`;

/** One server, with a client to spoil it by. */
export interface ServerSite extends Site {
  readonly server: RedisServer;
  readonly admin: Redis;
}

export interface ProxySite extends ServerSite {
  readonly proxy: TcpProxy;
}

export interface SentinelSite extends Site {
  readonly set: SentinelSet;
}

export interface ClusterSite extends Site {
  readonly cluster: RedisCluster;
  /** Of the log of the sale. */
  readonly slot: number;
}

async function entryAfter(client: Redis | Cluster, moment: number): Promise<number | undefined> {
  const after = `(${Math.round(moment * 1_000)}`;
  const found = client.zrangebyscore(SALE_KEY, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1);
  const [, at] = await found.catch((): string[] => []);
  return at === undefined ? undefined : Number(at) / 1_000;
}

/** A server that the application reaches directly, as this user. */
export const serverSite =
  ({ args, user = '' }: { args?: readonly string[]; user?: string } = {}) =>
  async (): Promise<ServerSite> => {
    const server = await startRedisServer(args ? { args } : {});
    const admin = supportClient(server.url);
    return {
      server,
      admin,
      redis: server.url.replace('//', `//${user}`),
      entryAfter: (moment) => entryAfter(admin, moment),
      async stop() {
        admin.disconnect();
        await server.stop();
      },
    };
  };

/** A server that the application reaches through what spoils connections. */
export async function proxySite(): Promise<ProxySite> {
  const site = await serverSite()();
  const proxy = await startTcpProxy(site.server.port);
  return {
    ...site,
    proxy,
    redis: proxy.url,
    async stop() {
      await proxy.stop();
      await site.stop();
    },
  };
}

export async function sentinelSite(): Promise<SentinelSite> {
  const set = await startSentinelSet();
  const clients = new Map([set.master, ...set.replicas].map((server) => [server, supportClient(server.url)]));
  return {
    set,
    redis: { sentinels: set.sentinels, name: set.name },
    entryAfter: async (moment) => entryAfter(clients.get(await set.currentMaster())!, moment),
    async stop() {
      for (const client of clients.values()) client.disconnect();
      await set.stop();
    },
  };
}

export const clusterSite = (replicasPerMaster: number) => async (): Promise<ClusterSite> => {
  const cluster = await startRedisCluster(3, { replicasPerMaster, nodeTimeoutMs: 1_000 });
  const nodes = cluster.ports.map((port) => ({ host: '127.0.0.1', port }));
  const client = new Cluster(nodes, {
    clusterRetryStrategy: () => 50,
    retryDelayOnClusterDown: 50,
    // Of one that stands still no answer ever comes.
    redisOptions: { commandTimeout: 300 },
  });
  client.on('error', () => undefined);
  return {
    cluster,
    slot: await cluster.slotOf(SALE_KEY),
    redis: { cluster: nodes },
    entryAfter: (moment) => entryAfter(client, moment),
    async stop() {
      client.disconnect();
      await cluster.stop();
    },
  };
};
