import { parseArgs } from 'node:util';

const SECTIONS = ['store', 'memory', 'http'] as const;
export type Section = (typeof SECTIONS)[number];

export const USAGE = `Usage: npm run bench -- [--quick | --save] [--only=store,memory,http] [--rounds=N]

  --quick   in less than two minutes, with rough figures, and HTTP on Fastify alone
  --only    some of the three parts
  --rounds  how often each measurement is repeated
  --save    as the figures and charts of the README, instead of into test/bench/results
`;

export interface BenchOptions {
  readonly quick: boolean;
  readonly save: boolean;
  readonly only: readonly Section[];
  /** Absent for as many as suit the part. */
  readonly rounds?: number;
}

const isSection = (name: string): name is Section => (SECTIONS as readonly string[]).includes(name);

/** Undefined for arguments that make no sense. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean', default: false },
        save: { type: 'boolean', default: false },
        only: { type: 'string', default: SECTIONS.join(',') },
        rounds: { type: 'string' },
      },
    });
    const only = values.only.split(',');
    if (!only.every(isSection)) return undefined;
    if (values.rounds !== undefined && !/^[1-9]\d*$/.test(values.rounds)) return undefined;
    const { quick, save, rounds } = values;
    // Rough figures are none to show.
    if (quick && save) return undefined;
    return { quick, save, only, ...(rounds !== undefined && { rounds: Number(rounds) }) };
  } catch {
    return undefined;
  }
}
