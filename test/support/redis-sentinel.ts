import type { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { answersOf, supportClient } from './redis-clients.ts';
import { startRedisServer, type RedisServer } from './redis-server.ts';

/** A master, its replicas and their sentinels, of real processes. */
export interface SentinelSet {
  /** As it was at the start, as the replicas. */
  readonly master: RedisServer;
  readonly replicas: readonly RedisServer[];
  /** As ioredis takes them. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** The processes of the sentinels, in the same order. */
  readonly sentinelServers: readonly RedisServer[];
  /** What the sentinels call the master. */
  readonly name: string;
  /** By the newest of what the sentinels say that answer. */
  currentMaster(): Promise<RedisServer>;
  /**
   * Lets the sentinels promote a replica, and waits until all of them say so. For some 10 s more the old master takes
   * writes too, which are lost then.
   */
  failover(): Promise<void>;
  stop(): Promise<void>;
}

interface SentinelSetOptions {
  readonly replicas?: number;
  readonly sentinels?: number;
  /** After how long without an answer a sentinel takes a server to be down. */
  readonly downAfterMs?: number;
}

const NAME = 'floodgate';
const PATIENCE_MS = 20_000;
/** Redis itself lets a replica wait 5 s for others to come. */
const REPLICATES_AT_ONCE = ['--repl-diskless-sync-delay', '0'];

export async function startSentinelSet(options: SentinelSetOptions = {}): Promise<SentinelSet> {
  const { replicas = 1, sentinels = 3, downAfterMs = 500 } = options;
  const data: RedisServer[] = [];
  const guards: RedisServer[] = [];
  const clients: Redis[] = [];
  const stop = async (): Promise<void> => {
    for (const client of clients) client.disconnect();
    await Promise.all([...guards, ...data].map((server) => server.stop()));
  };
  try {
    // Sentinels write into these files who is the master; that has to outlast a restart.
    data.push(await startRedisServer({ args: REPLICATES_AT_ONCE, config: [] }));
    const { port } = data[0]!;
    for (let i = 0; i < replicas; i++) data.push(await startReplica(port));
    for (let i = 0; i < sentinels; i++) guards.push(await startSentinel(port, sentinels, downAfterMs));
    clients.push(...guards.map(({ url }) => supportClient(url)));
    await eventually(async () => (await viewsOf(clients)).every(isComplete(replicas, sentinels)), PATIENCE_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    master: data[0]!,
    replicas: data.slice(1),
    sentinels: guards.map(({ port }) => ({ host: '127.0.0.1', port })),
    sentinelServers: guards,
    name: NAME,
    currentMaster: async () => serverAt(data, newestOf(await viewsOf(clients)).port),
    failover: () => failover(clients),
    stop,
  };
}

async function startReplica(master: number): Promise<RedisServer> {
  const config = [`replicaof 127.0.0.1 ${master}`];
  const server = await startRedisServer({ args: REPLICATES_AT_ONCE, config });
  const client = supportClient(server.url);
  await eventually(async () => (await client.info('replication')).includes('master_link_status:up'), PATIENCE_MS);
  client.disconnect();
  return server;
}

function startSentinel(master: number, sentinels: number, downAfterMs: number): Promise<RedisServer> {
  const config = [
    `sentinel monitor ${NAME} 127.0.0.1 ${master} ${Math.floor(sentinels / 2) + 1}`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    // One that failed is tried again after twice this time.
    `sentinel failover-timeout ${NAME} 3000`,
  ];
  return startRedisServer({ args: ['--sentinel'], config });
}

/** What one sentinel says about the master. */
interface View {
  readonly port: number;
  readonly epoch: number;
  readonly flags: string;
  readonly replicas: number;
  readonly otherSentinels: number;
}

const viewsOf = (sentinels: readonly Redis[]): Promise<View[]> => answersOf(sentinels, viewOf);

async function viewOf(sentinel: Redis): Promise<View> {
  const fields = new Map(pairsOf((await sentinel.call('SENTINEL', 'MASTER', NAME)) as readonly string[]));
  const number = (name: string): number => Number(fields.get(name));
  return {
    port: number('port'),
    epoch: number('config-epoch'),
    flags: fields.get('flags')!,
    replicas: number('num-slaves'),
    otherSentinels: number('num-other-sentinels'),
  };
}

const pairsOf = (list: readonly string[]): [string, string][] =>
  list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1]!]] : []));

const isComplete =
  (replicas: number, sentinels: number) =>
  (view: View): boolean =>
    view.flags === 'master' && view.replicas === replicas && view.otherSentinels === sentinels - 1;

function newestOf(views: readonly View[]): View {
  if (views.length === 0) throw new Error('no sentinel answers');
  return views.reduce((newest, view) => (view.epoch > newest.epoch ? view : newest));
}

function serverAt(servers: readonly RedisServer[], port: number): RedisServer {
  return servers.find((server) => server.port === port)!;
}

async function failover(sentinels: readonly Redis[]): Promise<void> {
  const { port: before, epoch } = newestOf(await viewsOf(sentinels));
  await eventually(async () => (await answersOf(sentinels.slice(0, 1), begin)).length > 0, PATIENCE_MS);
  await eventually(async () => {
    const views = await viewsOf(sentinels);
    return views.every((view) => view.port !== before && view.epoch > epoch && !view.flags.includes('failover'));
  }, PATIENCE_MS);
}

/** Refused as long as another failover goes on, or no replica is known to be fit. */
const begin = (sentinel: Redis): Promise<unknown> => sentinel.call('SENTINEL', 'FAILOVER', NAME);
