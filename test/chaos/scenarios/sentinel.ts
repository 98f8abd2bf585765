import { eventually } from '../../support/eventually.ts';
import { scenario } from '../scenario.ts';
import { sentinelSite } from '../sites.ts';

const PATIENCE_MS = 25_000;

export const masterKilled = scenario({
  name: 'a master that is killed, and whose replica Sentinel promotes',
  site: sentinelSite,
  begin: ({ set }) => set.master.kill(),
  end: ({ set }) => eventually(async () => (await set.currentMaster()) !== set.master, PATIENCE_MS),
  lastsMs: { briefly: 0, fully: 0 },
  expected: { outage: 'certainly', bound: 2 },
});

const masterReplaced = scenario({
  name: 'a master that Sentinel replaces on command',
  site: sentinelSite,
  begin: ({ set }) => set.failover(),
  end: async () => undefined,
  lastsMs: { briefly: 0, fully: 0 },
  expected: { outage: 'possibly', bound: 2 },
});

const masterStopped = scenario({
  name: 'a master that stands still, and whose replica Sentinel promotes',
  site: sentinelSite,
  begin: async ({ set }) => set.master.pause(),
  end: ({ set }) => eventually(async () => (await set.currentMaster()) !== set.master, PATIENCE_MS),
  lastsMs: { briefly: 0, fully: 0 },
  expected: { outage: 'certainly', bound: 2 },
});

export const sentinel = [masterKilled, masterReplaced, masterStopped];
