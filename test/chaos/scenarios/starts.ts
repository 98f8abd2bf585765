import { scenario } from '../scenario.ts';
import { clusterSite, proxySite, sentinelSite, serverSite, type SentinelSite } from '../sites.ts';
import { killAll, restartAll } from './cluster.ts';

export const startedWithout = scenario({
  name: 'a Redis that is away at the start',
  site: serverSite(),
  isAtStart: true,
  begin: ({ server }) => server.kill(),
  end: ({ server }) => server.restart(),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'certainly', bound: 2 },
});

const startedBeforeSilence = scenario({
  name: 'a Redis that is silent at the start',
  site: proxySite,
  isAtStart: true,
  begin: async ({ proxy }) => proxy.blackhole(),
  end: ({ proxy }) => proxy.heal(),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'certainly', bound: 1 },
});

const startedWithoutCluster = scenario({
  name: 'a Cluster that is away at the start',
  site: clusterSite(0),
  isAtStart: true,
  begin: killAll,
  end: restartAll,
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'certainly', bound: 2 },
});

const allOf = ({ set }: SentinelSite) => [set.master, ...set.replicas, ...set.sentinelServers];

const startedWithoutSentinels = scenario({
  name: 'a master and sentinels that are away at the start',
  site: sentinelSite,
  isAtStart: true,
  begin: async (site) => void (await Promise.all(allOf(site).map((server) => server.kill()))),
  end: async (site) => void (await Promise.all(allOf(site).map((server) => server.restart()))),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'certainly', bound: 2 },
});

export const starts = [startedWithout, startedBeforeSilence, startedWithoutCluster, startedWithoutSentinels];
