import type { Redis } from 'ioredis';
import { answersOf } from './redis-clients.ts';

/** A slot of a cluster that is being given from one master to another. */
export interface SlotMove {
  /** So many of the keys that are still where they were, or all of them. */
  migrateKeys(most?: number): Promise<void>;
  /** Moves the keys that are left, and then the slot. */
  finish(): Promise<void>;
}

interface SlotMoveParts {
  readonly slot: number;
  readonly source: Redis;
  readonly target: Redis;
  /** Of every node. */
  readonly clients: readonly Redis[];
}

const BATCH = 100;
const MIGRATE_TIMEOUT_MS = 5_000;

export const idOf = async (client: Redis): Promise<string> => (await client.cluster('MYID')) as string;

/** From here on the source redirects with ASK what it does not have. */
export async function beginSlotMove(parts: SlotMoveParts): Promise<SlotMove> {
  const { slot, source, target } = parts;
  // The target first: the other way round it would send the redirected back.
  await target.cluster('SETSLOT', slot, 'IMPORTING', await idOf(source));
  await source.cluster('SETSLOT', slot, 'MIGRATING', await idOf(target));
  return {
    migrateKeys: (most = Infinity) => migrateKeys(parts, most),
    async finish() {
      await migrateKeys(parts, Infinity);
      await giveSlot(parts);
    },
  };
}

async function migrateKeys({ slot, source, target }: SlotMoveParts, most: number): Promise<void> {
  const address = ['127.0.0.1', target.options.port!] as const;
  for (let left = most; left > 0;) {
    const keys = (await source.cluster('GETKEYSINSLOT', slot, Math.min(BATCH, left))) as string[];
    if (keys.length === 0) return;
    await source.call('MIGRATE', ...address, '', 0, MIGRATE_TIMEOUT_MS, 'KEYS', ...keys);
    left -= keys.length;
  }
}

async function giveSlot({ slot, source, target, clients }: SlotMoveParts): Promise<void> {
  const id = await idOf(target);
  const give = (client: Redis): Promise<unknown> => client.cluster('SETSLOT', slot, 'NODE', id);
  // The target first: if only the source knew, nobody would have the slot.
  await give(target);
  await give(source);
  // Replicas refuse it, and hear of it from their masters, as those that do not answer now.
  await answersOf(
    clients.filter((client) => client !== source && client !== target),
    give,
  );
}
