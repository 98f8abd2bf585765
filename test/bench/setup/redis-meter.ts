import type { Redis } from 'ioredis';

/** What Redis spent on each decision. */
export interface RedisCost {
  /** CPU time of the process, in the kernel too. */
  readonly cpuUs: number;
  /** Time in scripts, by Redis's own account. */
  readonly scriptUs: number;
  readonly scriptCalls: number;
  /** Commands run, those in scripts included. */
  readonly commands: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Commands of the meter itself. */
const OWN = new Set(['config|resetstat', 'info', 'flushall']);
const SCRIPT = new Set(['eval', 'evalsha']);

/** Measures what Redis spends while others use it. */
export class RedisMeter {
  readonly #admin: Redis;
  #cpuBefore = 0;

  constructor(admin: Redis) {
    this.#admin = admin;
  }

  async start(): Promise<void> {
    this.#cpuBefore = cpuUsOf(await this.#admin.info('cpu'));
    await this.#admin.config('RESETSTAT');
  }

  /** @param decisions how many were made since the start */
  async stop(decisions: number): Promise<RedisCost> {
    return costPerDecision(await this.#admin.info('all'), this.#cpuBefore, decisions);
  }
}

const field = (info: string, name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);

const cpuUsOf = (info: string): number => (field(info, 'used_cpu_user') + field(info, 'used_cpu_sys')) * 1_000_000;

/** @param info the reply to `INFO all`, of statistics that were reset when the first decision began */
export function costPerDecision(info: string, cpuUsBefore: number, decisions: number): RedisCost {
  const commands = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)]
    .map(([, name, calls, us]) => ({ name: name!, calls: Number(calls), us: Number(us) }))
    .filter(({ name }) => !OWN.has(name));
  const scripts = commands.filter(({ name }) => SCRIPT.has(name));
  const each = (total: number): number => total / decisions;
  const sum = (of: typeof commands, what: 'calls' | 'us'): number => of.reduce((all, row) => all + row[what], 0);
  return {
    cpuUs: each(cpuUsOf(info) - cpuUsBefore),
    scriptUs: each(sum(scripts, 'us')),
    scriptCalls: each(sum(scripts, 'calls')),
    commands: each(sum(commands, 'calls')),
    bytesIn: each(field(info, 'total_net_input_bytes')),
    bytesOut: each(field(info, 'total_net_output_bytes')),
  };
}
