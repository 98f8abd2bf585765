import type { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { answersOf, supportClient } from './redis-clients.ts';
import { startRedisServer, type RedisServer } from './redis-server.ts';
import { beginSlotMove, idOf, type SlotMove } from './slot-move.ts';

/** A Redis Cluster of real processes. */
export interface RedisCluster {
  /** Of all nodes. */
  readonly ports: readonly number[];
  /** Those started as masters, then one replica of each: that of `nodes[i]` is `nodes[masters + i]`; and so on. */
  readonly nodes: readonly RedisServer[];
  /** Runs something on each node that was started as a master. */
  onEach<T>(run: (master: Redis) => Promise<T>): Promise<readonly T[]>;
  slotOf(key: string): Promise<number>;
  /** The index in `nodes`; undefined while no node that answers has the slot, as after the death of its master. */
  ownerOf(slot: number): Promise<number | undefined>;
  /** Gives a slot and its keys from one master to another; both are indices in `nodes`. */
  moveSlot(slot: number, from: number, to: number): Promise<void>;
  /** Stops where the first one redirects with ASK what it does not have. */
  beginMove(slot: number, from: number, to: number): Promise<SlotMove>;
  stop(): Promise<void>;
}

interface RedisClusterOptions {
  readonly replicasPerMaster?: number;
  /** After how long without an answer a node takes another one to be down. */
  readonly nodeTimeoutMs?: number;
}

const SLOTS = 16_384;
const PATIENCE_MS = 20_000;

export async function startRedisCluster(masters = 3, options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { replicasPerMaster = 0, nodeTimeoutMs = 2_000 } = options;
  const nodes: RedisServer[] = [];
  const clients: Redis[] = [];
  const stop = async (): Promise<void> => {
    for (const client of clients) client.disconnect();
    await Promise.all(nodes.map((server) => server.stop()));
  };
  try {
    for (let i = 0; i < masters * (1 + replicasPerMaster); i++) nodes.push(await startNode(nodeTimeoutMs));
    clients.push(...nodes.map(({ url }) => supportClient(url)));
    await shareSlots(clients.slice(0, masters));
    await introduce(nodes, clients);
    await replicate(clients, masters);
  } catch (error) {
    await stop();
    throw error;
  }
  const beginMove = (slot: number, from: number, to: number): Promise<SlotMove> =>
    beginSlotMove({ slot, source: clients[from]!, target: clients[to]!, clients });
  return {
    ports: nodes.map(({ port }) => port),
    nodes,
    onEach: (run) => Promise.all(clients.slice(0, masters).map(run)),
    slotOf: (key) => Promise.any(clients.map(async (client) => (await client.cluster('KEYSLOT', key)) as number)),
    ownerOf: (slot) => ownerOf(clients, slot),
    async moveSlot(slot, from, to) {
      await (await beginMove(slot, from, to)).finish();
    },
    beginMove,
    stop,
  };
}

function startNode(nodeTimeoutMs: number): Promise<RedisServer> {
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-config-file': 'nodes.conf',
    'cluster-node-timeout': String(nodeTimeoutMs),
    // Lets a replica take over, however long it was cut off.
    'cluster-replica-validity-factor': '0',
    // Redis itself lets a replica wait 5 s for others to come.
    'repl-diskless-sync-delay': '0',
  };
  return startRedisServer({ args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]) });
}

async function shareSlots(masters: readonly Redis[]): Promise<void> {
  const firstSlot = (i: number): number => Math.floor((SLOTS / masters.length) * i);
  for (const [i, master] of masters.entries()) {
    await master.cluster('ADDSLOTSRANGE', firstSlot(i), firstSlot(i + 1) - 1);
    await master.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
  }
}

/** Waits until all know all. Redis itself takes 2 s before a fresh master serves. */
async function introduce(nodes: readonly RedisServer[], clients: readonly Redis[]): Promise<void> {
  for (const client of clients.slice(1)) await client.cluster('MEET', '127.0.0.1', nodes[0]!.port);
  await onceAll(clients, async (client) => {
    const info = (await client.cluster('INFO')) as string;
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`);
  });
}

async function replicate(clients: readonly Redis[], masters: number): Promise<void> {
  const replicas = clients.slice(masters);
  for (const [i, replica] of replicas.entries()) await replica.cluster('REPLICATE', await idOf(clients[i % masters]!));
  await onceAll(replicas, async (replica) => (await replica.info('replication')).includes('master_link_status:up'));
  // Every node is to know by then who replicates whom.
  await onceAll(
    clients,
    async (client) => (await linesOf(client)).filter((line) => line.includes('slave')).length === replicas.length,
  );
}

const onceAll = (clients: readonly Redis[], holds: (client: Redis) => Promise<boolean>): Promise<void> =>
  eventually(async () => (await Promise.all(clients.map(holds))).every(Boolean), PATIENCE_MS);

/** One for each node that this one knows. */
const linesOf = async (client: Redis): Promise<readonly string[]> =>
  ((await client.cluster('NODES')) as string).trim().split('\n');

/** Of what a node claims for itself the newest counts: one that was away may not know yet that it lost its slots. */
async function ownerOf(clients: readonly Redis[], slot: number): Promise<number | undefined> {
  const claims = await answersOf(clients, async (client) => ({
    index: clients.indexOf(client),
    ...(await claimOf(client)),
  }));
  const owners = claims.filter(({ ranges }) => ranges.some(([first, last]) => first <= slot && slot <= last));
  return owners.sort((a, b) => b.epoch - a.epoch)[0]?.index;
}

interface Claim {
  readonly epoch: number;
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

async function claimOf(client: Redis): Promise<Claim> {
  const own = (await linesOf(client)).find((line) => line.includes('myself'))!.split(' ');
  // After the eight fields of the node come its slots; those in brackets are being moved.
  const slots = own.slice(8).filter((range) => !range.startsWith('['));
  return {
    epoch: Number(own[6]),
    ranges: slots.map((range) => range.split('-').map(Number)).map(([first, last]) => [first!, last ?? first!]),
  };
}
