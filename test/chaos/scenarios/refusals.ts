import type { Redis } from 'ioredis';
import { scenario } from '../scenario.ts';
import { SALE_KEY, serverSite } from '../sites.ts';

const FILLING = 'filling';
const MEMORY = '20mb';

/** Until the server takes no byte more. */
async function fill(admin: Redis): Promise<void> {
  for (const bytes of [1_000_000, 10_000, 100]) {
    const isFull = async (): Promise<boolean> =>
      admin.rpush(`${FILLING}:${bytes}`, 'x'.repeat(bytes)).then(
        () => false,
        () => true,
      );
    while (!(await isFull()));
  }
}

export const full = scenario({
  name: 'a Redis whose memory is full',
  site: serverSite({ args: ['--maxmemory', MEMORY, '--maxmemory-policy', 'noeviction'] }),
  begin: async ({ admin }) => {
    await fill(admin);
    // Room that expired keys and closed connections leave is no end of the cause.
    await admin.config('SET', 'maxmemory', '1mb');
  },
  end: async ({ admin }) => {
    await admin.del(...(await admin.keys(`${FILLING}:*`)));
    await admin.config('SET', 'maxmemory', MEMORY);
  },
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'certainly', bound: 1 },
});

const USER = 'shop';
const RIGHTS = ['on', '>secret', '~*', '+@all'];

const withoutRights = scenario({
  name: 'a Redis that takes the rights from its user',
  site: async () => {
    const site = await serverSite({ user: `${USER}:secret@` })();
    await site.admin.call('ACL', 'SETUSER', USER, ...RIGHTS);
    return site;
  },
  begin: async ({ admin }) => void (await admin.call('ACL', 'SETUSER', USER, '-@all')),
  end: async ({ admin }) => void (await admin.call('ACL', 'SETUSER', USER, ...RIGHTS)),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'certainly', bound: 1 },
});

const wrongType = scenario({
  name: 'a Redis that has a text where the log should be',
  site: serverSite(),
  begin: async ({ admin }) => void (await admin.set(SALE_KEY, 'text')),
  end: async ({ admin }) => void (await admin.del(SALE_KEY)),
  lastsMs: { briefly: 2_000, fully: 10_000 },
  expected: { outage: 'for single calls', bound: 2 },
});

export const refusals = [full, withoutRights, wrongType];
