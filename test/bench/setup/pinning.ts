import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/**
 * Keeps a process, all its threads included, on one core, where the system can: what is measured then never waits for
 * what measures it.
 * @param core from 0
 */
export function pin(pid: number, core: number): void {
  if (process.platform !== 'linux' || cpus().length <= core) return;
  try {
    execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
  } catch {
    // Not every Linux has taskset; without it figures are noisier.
  }
}
