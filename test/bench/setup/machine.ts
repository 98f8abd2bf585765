import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { peerVersions } from './peers.ts';

/** Where and of what figures were taken. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly redis: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Of the library's source. */
  readonly commit: string;
  /** Day, UTC. */
  readonly date: string;
}

export function describeMachine(redisVersion: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: cpus().length,
    node: process.versions.node,
    redis: redisVersion,
    versions: peerVersions(),
    commit: execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim(),
    date: new Date().toISOString().slice(0, 10),
  };
}

/** For the caption of a table or chart. */
export const machineLine = ({ cpu, cores, node, redis, date }: Machine): string =>
  `${cpu}, ${cores} cores, Node ${node}, Redis ${redis}, ${date}`;
