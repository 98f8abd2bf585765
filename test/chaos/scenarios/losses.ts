import { losePacketsTo, type LostPackets } from '../lost-packets.ts';
import { repeatedly } from '../repeatedly.ts';
import { scenario } from '../scenario.ts';
import { proxySite, serverSite, type ProxySite, type ServerSite } from '../sites.ts';

export const restarted = scenario({
  name: 'a Redis that is killed, and comes back empty',
  site: serverSite(),
  begin: ({ server }) => server.kill(),
  end: ({ server }) => server.restart(),
  lastsMs: { briefly: 2_000, fully: 15_000 },
  expected: { outage: 'certainly', bound: 2 },
});

export const cut = scenario({
  name: 'a Redis whose every reply is cut off after the command was applied',
  site: proxySite,
  begin: async ({ proxy }) => proxy.cutReplies(),
  end: ({ proxy }) => proxy.heal(),
  lastsMs: { briefly: 2_000, fully: 15_000 },
  expected: { outage: 'certainly', bound: 1 },
});

const cutNowAndThen = scenario({
  name: 'a Redis of which a reply is cut off now and then',
  site: proxySite,
  ...repeatedly(300, async ({ proxy }: ProxySite) => proxy.dropNextReply()),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'possibly', bound: 1 },
});

const refusing = scenario({
  name: 'a Redis that refuses connections',
  site: proxySite,
  begin: ({ proxy }) => proxy.refuse(),
  end: ({ proxy }) => proxy.heal(),
  lastsMs: { briefly: 2_000, fully: 15_000 },
  expected: { outage: 'certainly', bound: 1 },
});

const lost = new WeakMap<ProxySite, LostPackets>();

const unreachable = scenario({
  name: 'a Redis that attempts to connect never reach',
  site: proxySite,
  begin: async (site) => {
    await site.proxy.refuse();
    lost.set(site, await losePacketsTo(site.proxy.port));
  },
  end: async (site) => {
    await lost.get(site)!.end();
    await site.proxy.heal();
  },
  lastsMs: { briefly: 4_000, fully: 15_000 },
  expected: { outage: 'certainly', bound: 1 },
});

const withoutScripts = scenario({
  name: 'a Redis that forgets its scripts every 20 ms',
  site: serverSite(),
  ...repeatedly(20, ({ admin }: ServerSite) => admin.script('FLUSH')),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'never', bound: 1 },
});

export const flushed = scenario({
  name: 'a Redis that forgets its keys',
  site: serverSite(),
  begin: async ({ admin }) => void (await admin.flushall()),
  end: async () => undefined,
  lastsMs: { briefly: 0, fully: 0 },
  expected: { outage: 'never', bound: 2 },
});

export const losses = [restarted, cut, cutNowAndThen, refusing, unreachable, withoutScripts, flushed];
