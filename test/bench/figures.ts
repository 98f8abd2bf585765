import { mkdirSync, writeFileSync } from 'node:fs';
import { httpChart, memoryChart, storeChart } from './charts/draw.ts';
import type { HttpSummary } from './http/summary.ts';
import type { KeyMemory } from './memory/measure.ts';
import { machineLine, type Machine } from './setup/machine.ts';
import type { StoreSummary } from './store/summary.ts';

/** What a part of the bench found. */
export type Finding = { readonly markdown: string } & (
  | { readonly section: 'store'; readonly rows: readonly StoreSummary[] }
  | { readonly section: 'memory'; readonly rows: readonly KeyMemory[] }
  | { readonly section: 'http'; readonly rows: readonly HttpSummary[] }
);

/** Of the last run, which git ignores. */
const LAST = { figures: new URL('results/', import.meta.url), charts: new URL('results/', import.meta.url) };
/** What the README shows. */
const SAVED = { figures: new URL('figures/', import.meta.url), charts: new URL('charts/', import.meta.url) };

/** Writes the tables, what programs need of them, and the chart. */
export function writeFigures(finding: Finding, machine: Machine, save: boolean): void {
  const folders = save ? SAVED : LAST;
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  const { section, rows, markdown } = finding;
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  const taken = `Taken on ${machineLine(machine)}, of commit ${machine.commit}, with ${versions.join(', ')}.`;
  writeFileSync(new URL(`${section}.md`, folders.figures), `${markdown}\n\n${taken}\n`);
  writeFileSync(new URL(`${section}.json`, folders.figures), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  writeFileSync(new URL(`${section}.svg`, folders.charts), chartOf(finding, machineLine(machine)));
}

function chartOf({ section, rows }: Finding, taken: string): string {
  switch (section) {
    case 'store':
      return storeChart(rows, taken);
    case 'memory':
      return memoryChart(rows, taken);
    case 'http':
      return httpChart(rows, taken);
  }
}
