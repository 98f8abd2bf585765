import { scenario, type Expected } from '../scenario.ts';
import { proxySite, serverSite } from '../sites.ts';

const expected: Expected = { outage: 'certainly', bound: 1 };

export const stopped = scenario({
  name: 'a Redis that stands still for three seconds',
  site: serverSite(),
  begin: async ({ server }) => server.pause(),
  end: async ({ server }) => server.resume(),
  lastsMs: { briefly: 3_000, fully: 3_000 },
  expected,
});

export const silent = scenario({
  name: 'a Redis that is silent behind open connections',
  site: proxySite,
  begin: async ({ proxy }) => proxy.blackhole(),
  end: ({ proxy }) => proxy.heal(),
  lastsMs: { briefly: 3_000, fully: 15_000 },
  expected,
});

const slow = scenario({
  name: 'a Redis that answers after 500 ms',
  site: proxySite,
  begin: async ({ proxy }) => proxy.delay(250),
  end: async ({ proxy }) => proxy.delay(0),
  lastsMs: { briefly: 3_000, fully: 15_000 },
  expected,
});

export const stalls = [stopped, silent, slow];
