import { mkdirSync, writeFileSync } from 'node:fs';
import type { Section } from './options.ts';
import { machineLine, type Machine } from './setup/machine.ts';

/** What a part of the bench found. */
export interface Figures {
  readonly machine: Machine;
  readonly rows: readonly object[];
}

/** Those of the last run, which git ignores, and those of the README. */
const LAST = new URL('results/', import.meta.url);
const SAVED = new URL('figures/', import.meta.url);

export function writeFigures(
  section: Section,
  { machine, rows, markdown }: Figures & { markdown: string },
  save: boolean,
): void {
  const folder = save ? SAVED : LAST;
  mkdirSync(folder, { recursive: true });
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  const taken = `${machineLine(machine)}, commit ${machine.commit}.\n\n${versions.join(', ')}.`;
  writeFileSync(new URL(`${section}.md`, folder), `${markdown}\n\n${taken}\n`);
  writeFileSync(new URL(`${section}.json`, folder), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
}
