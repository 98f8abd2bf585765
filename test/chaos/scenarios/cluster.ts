import { eventually } from '../../support/eventually.ts';
import type { SlotMove } from '../../support/slot-move.ts';
import { scenario } from '../scenario.ts';
import { clusterSite, type ClusterSite } from '../sites.ts';

const PATIENCE_MS = 25_000;

export const killAll = async ({ cluster }: ClusterSite): Promise<void> =>
  void (await Promise.all(cluster.nodes.map((node) => node.kill())));

/** Until all serve again. */
export async function restartAll({ cluster }: ClusterSite): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.restart()));
  await eventually(async () => {
    const infos = await cluster.onEach(async (node) => (await node.cluster('INFO')) as string);
    return infos.every((info) => info.includes('cluster_state:ok'));
  }, PATIENCE_MS);
}

const ownerOfSale = ({ cluster, slot }: ClusterSite): Promise<number | undefined> => cluster.ownerOf(slot);

export const nodeKilled = scenario({
  name: 'a Cluster node that is killed, and whose replica takes its slots',
  site: clusterSite(1),
  begin: async (site) => site.cluster.nodes[(await ownerOfSale(site))!]!.kill(),
  end: (site) => eventually(async () => (await ownerOfSale(site)) !== undefined, PATIENCE_MS),
  lastsMs: { briefly: 0, fully: 0 },
  expected: { outage: 'certainly', bound: 2 },
});

const nodeStopped = scenario({
  name: 'a Cluster node that stands still, and whose replica takes its slots',
  site: clusterSite(1),
  begin: async (site) => site.cluster.nodes[(await ownerOfSale(site))!]!.pause(),
  end: (site) => eventually(async () => (await ownerOfSale(site)) !== undefined, PATIENCE_MS),
  lastsMs: { briefly: 0, fully: 0 },
  expected: { outage: 'certainly', bound: 2 },
});

const allKilled = scenario({
  name: 'a Cluster whose nodes are all killed, and come back empty',
  site: clusterSite(0),
  begin: killAll,
  end: restartAll,
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'certainly', bound: 2 },
});

const moves = new WeakMap<ClusterSite, SlotMove>();

const slotMoved = scenario({
  name: 'a Cluster slot that is moved to another node',
  site: clusterSite(0),
  begin: async (site) => {
    const from = (await ownerOfSale(site))!;
    const move = await site.cluster.beginMove(site.slot, from, (from + 1) % 3);
    moves.set(site, move);
    await move.migrateKeys();
  },
  end: (site) => moves.get(site)!.finish(),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'never', bound: 1 },
});

export const cluster = [nodeKilled, nodeStopped, allKilled, slotMoved];
