import type { StoreEvent } from '../core/store-event.ts';
import { ClockSteps } from './clock-steps.ts';
import { MemoryAge } from './memory-age.ts';
import { isClusterClient, type RedisClient } from './redis-client.ts';
import { infoField, serverWarnings } from './server-info.ts';

/** How often the servers are asked about themselves, besides whenever they are connected to. */
const LOOK_EVERY_MS = 30_000;
/** How long the same event is not told again: on a Cluster every slot notices it, when it is asked next. */
const QUIET_MS = 60_000;
/** Evictions go on for as long as memory is short. */
const EVICTIONS_QUIET_MS = 3_600_000;

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
  /** The servers that answered last, by their run ids: how many keys they had evicted. */
  readonly #servers = new Map<string, number>();

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
    let hasEnded = false;
    const look = async (): Promise<void> => {
      const servers = isClusterClient(client) ? client.nodes('master') : [client];
      const answers = await Promise.allSettled(servers.map(async (server) => server.info?.()));
      if (!hasEnded) this.#read(answers.map((answer) => (answer.status === 'fulfilled' ? String(answer.value) : '')));
    };
    const onReady = (): void => void look();
    const lookIfReady = (): void => {
      if (client.status === 'ready') void look();
    };
    // A Cluster stays ready when one of its nodes is replaced.
    const onNodeLost = (): void => {
      this.#memory.suspect();
      lookIfReady();
    };
    lookIfReady();
    client.on('ready', onReady);
    client.on('-node', onNodeLost);
    client.on('+node', lookIfReady);
    const timer = setInterval(lookIfReady, LOOK_EVERY_MS).unref();
    return () => {
      hasEnded = true;
      clearInterval(timer);
      client.removeListener('ready', onReady);
      client.removeListener('-node', onNodeLost);
      client.removeListener('+node', lookIfReady);
    };
  }

  /** @param infos what all servers say of themselves; empty texts of those that do not answer */
  #read(infos: readonly string[]): void {
    const servers = new Map<string, number>();
    for (const info of infos) {
      for (const warning of serverWarnings(info)) this.#once(warning, Infinity);
      const runId = infoField(info, 'run_id');
      if (runId !== undefined) servers.set(runId, Number(infoField(info, 'evicted_keys') ?? 0));
    }
    const isWhole = servers.size === infos.length;
    // A server that left was replaced; one that was added took nothing with it.
    if (isWhole && [...this.#servers.keys()].some((runId) => !servers.has(runId))) this.#memory.doubt();
    if (isWhole) this.#memory.clear();
    for (const [runId, evicted] of servers) this.#noteEvictions(evicted - (this.#servers.get(runId) ?? evicted));
    if (isWhole) this.#servers.clear();
    for (const [runId, evicted] of servers) this.#servers.set(runId, evicted);
  }

  #noteEvictions(more: number): void {
    if (more <= 0) return;
    this.#memory.doubt({ isTold: true });
    this.#once({ type: 'forgot', extent: 'some', message: `Redis evicted keys (${more})` }, EVICTIONS_QUIET_MS);
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
