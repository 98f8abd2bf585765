import type { StoreEvent } from '../core/store-event.ts';
import { ClockSteps } from './clock-steps.ts';
import { MemoryAge } from './memory-age.ts';
import { isClusterClient, type RedisClient } from './redis-client.ts';
import { infoField, serverWarnings } from './server-info.ts';

/** How often the servers are asked about themselves, besides whenever they are connected to. */
const LOOK_EVERY_MS = 30_000;
/** How long the same event is not told again: on a Cluster every slot notices it. */
const QUIET_MS = 10_000;

/** One decision of a server. */
export interface DecidedBy {
  /** The key of the epoch that was read with it: one for each server, or slot. */
  readonly epochKey: string;
  /** The epoch, in microseconds of the server's clock. */
  readonly began: number;
  /** When it was made, in microseconds of the server's clock. */
  readonly decidedAt: number;
  /** When it was asked for, in milliseconds of this process. */
  readonly sentAt: number;
}

/**
 * Watches the servers that decide: whether they keep what they are told, how their clocks run, and whether they are set
 * up in a way that limits suffer from. A user who may not call INFO learns less of it.
 */
export class ServerWatch {
  readonly #tell: (event: StoreEvent) => void;
  readonly #memory = new MemoryAge((extent) => this.#once({ type: 'forgot', extent, message: FORGOT[extent] }));
  readonly #clocks = new Map<string, ClockSteps>();
  readonly #toldAt = new Map<string, number>();
  /** By the run id of the server. */
  readonly #evicted = new Map<string, number>();

  constructor(tell: (event: StoreEvent) => void) {
    this.#tell = tell;
  }

  /** @returns for how many milliseconds the server has kept all that it was told */
  decided({ epochKey, began, decidedAt, sentAt }: DecidedBy): number {
    let clock = this.#clocks.get(epochKey);
    if (!clock) {
      clock = new ClockSteps((byMs) => this.#once({ type: 'clock-stepped', byMs }));
      this.#clocks.set(epochKey, clock);
    }
    clock.note(decidedAt / 1_000, sentAt, performance.now());
    return this.#memory.of(epochKey, began, decidedAt);
  }

  /** Looks at the servers of this client from now on. @returns what ends it */
  follow(client: RedisClient): () => void {
    const look = (): void => void this.#look(isClusterClient(client) ? client.nodes('master') : [client]);
    const lookIfReady = (): void => {
      if (client.status === 'ready') look();
    };
    lookIfReady();
    client.on('ready', look);
    const timer = setInterval(lookIfReady, LOOK_EVERY_MS).unref();
    return () => {
      clearInterval(timer);
      client.removeListener('ready', look);
    };
  }

  async #look(servers: readonly RedisClient[]): Promise<void> {
    const answers = await Promise.allSettled(servers.map(async (server) => server.info?.()));
    const isFirst = this.#evicted.size === 0;
    for (const answer of answers) if (answer.status === 'fulfilled') this.#read(String(answer.value), isFirst);
  }

  #read(info: string, isFirst: boolean): void {
    for (const warning of serverWarnings(info)) this.#once(warning, Infinity);
    const runId = infoField(info, 'run_id');
    if (runId === undefined) return;
    const evicted = Number(infoField(info, 'evicted_keys') ?? 0);
    const known = this.#evicted.get(runId);
    if (known === undefined && !isFirst) this.#memory.doubt();
    this.#evicted.set(runId, evicted);
    // What was evicted before this process looked is nobody's news.
    const more = evicted - (known ?? (isFirst ? evicted : 0));
    if (more > 0) this.#once({ type: 'forgot', extent: 'some', message: `Redis evicted ${more} keys` });
  }

  #once(event: StoreEvent, quietMs = QUIET_MS): void {
    const what = event.type === 'warning' ? event.code : event.type === 'forgot' ? event.extent : event.type;
    const now = performance.now();
    if (now - (this.#toldAt.get(what) ?? -Infinity) < quietMs) return;
    this.#toldAt.set(what, now);
    this.#tell(event);
  }
}

const FORGOT = {
  all: 'Redis lost its data: a restart without persistence, FLUSHALL, or a replica that had none',
  latest: 'Redis was restarted, or another server took over: the last charges may be lost',
} as const;
