/**
 * Breaks the code on purpose, one rule at a time, in a copy of the repository, and runs the tests that must notice.
 * Usage: npm run mutate [-- text that the mutations contain]. Exit status 1 when one went unnoticed.
 */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPACT_MUTATIONS } from './compact-mutations.ts';
import { FAILURE_MUTATIONS } from './failure-mutations.ts';
import { LIST_MUTATIONS } from './list-mutations.ts';
import { METRICS_MUTATIONS } from './metrics-mutations.ts';
import type { Mutation } from './mutation.ts';
import { NEST_MUTATIONS } from './nest-mutations.ts';
import { OUTCOME_MUTATIONS } from './outcome-mutations.ts';
import { PENALTY_MUTATIONS } from './penalty-mutations.ts';
import { REDIS_MUTATIONS } from './redis-mutations.ts';
import { SHADOW_MUTATIONS } from './shadow-mutations.ts';
import { STORE_MUTATIONS } from './store-mutations.ts';
import { WAITING_MUTATIONS } from './waiting-mutations.ts';
import { WARM_UP_MUTATIONS } from './warm-up-mutations.ts';
import { WATCHING_MUTATIONS } from './watching-mutations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'floodgate-mutant-'));

function copyRepository(): void {
  for (const name of [
    'src',
    'lua',
    'test',
    'examples',
    'package.json',
    'tsconfig.json',
    'jest.config.ts',
    'README.md',
  ]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

const testsPass = (tests: string): Promise<boolean> =>
  new Promise((resolve) => {
    const args = ['test', '--silent', '--', '--silent', '--bail', ...tests.split(' ')];
    execFile('npm', args, { cwd: copy, timeout: 300_000 }, (error) => resolve(error === null));
  });

/** The scripts run as they are embedded. */
const embedLua = (): void => void execFileSync('node', ['lua/embed.mjs'], { cwd: copy });

/** Whether the tests notice. */
async function isNoticed({ file, find, replace, tests }: Mutation): Promise<boolean> {
  const path = join(copy, file);
  const original = readFileSync(path, 'utf8');
  if (original.split(find).length !== 2) throw new Error(`${file} does not hold this once: ${find}`);
  try {
    writeFileSync(
      path,
      original.replace(find, () => replace),
    );
    embedLua();
    return !(await testsPass(tests));
  } finally {
    writeFileSync(path, original);
    embedLua();
  }
}

copyRepository();
const wanted = process.argv[2] ?? '';
const ALL = [
  ...STORE_MUTATIONS,
  ...SHADOW_MUTATIONS,
  ...WARM_UP_MUTATIONS,
  ...WATCHING_MUTATIONS,
  ...METRICS_MUTATIONS,
  ...WAITING_MUTATIONS,
  ...PENALTY_MUTATIONS,
  ...LIST_MUTATIONS,
  ...COMPACT_MUTATIONS,
  ...REDIS_MUTATIONS,
  ...FAILURE_MUTATIONS,
  ...NEST_MUTATIONS,
  ...OUTCOME_MUTATIONS,
];
const chosen = ALL.filter((mutation) => Object.values(mutation).join('\n').includes(wanted));
let unnoticed = 0;
try {
  for (const tests of new Set(chosen.map((mutation) => mutation.tests))) {
    if (!(await testsPass(tests))) throw new Error(`${tests} fails on the code as it is`);
  }
  for (const mutation of chosen) {
    const noticed = await isNoticed(mutation);
    if (!noticed) unnoticed++;
    console.log(`${noticed ? 'noticed  ' : 'UNNOTICED'}  ${mutation.file}: ${mutation.takesAway}`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${chosen.length - unnoticed} of ${chosen.length} noticed`);
process.exitCode = unnoticed === 0 ? 0 : 1;
