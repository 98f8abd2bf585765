/**
 * Installs the packed library in applications as people have them, and runs a limited route in each.
 * Usage: npm run test:consumers [-- text that the names contain, or --short for what CI runs]. Exit status 1 when one
 * fails.
 */
import { execFileSync, execSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packedLibrary } from '../support/packed-library.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { CONSUMERS, INSTALLATIONS, type Consumer } from './consumers.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'floodgate-consumers-'));

function install(name: Consumer['installation'], tarball: string): string {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true }));
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', tarball, ...INSTALLATIONS[name]];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}

/** Runs a shell command. @throws Error with its output in `message` when it fails */
function run(command: string, folder: string, redisUrl: string): void {
  const env = { ...process.env, TEST_REDIS_URL: redisUrl, NODE_OPTIONS: '', NODE_PATH: '' };
  try {
    execSync(command, { cwd: folder, env, stdio: 'pipe', encoding: 'utf8', timeout: 120_000 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command}\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** A new folder with a copy of the file and nothing else, from which no package is found. */
function alone(file: string): string {
  const folder = mkdtempSync(join(work, 'alone-'));
  for (let parent = folder; parent !== dirname(parent); parent = dirname(parent)) {
    if (existsSync(join(parent, 'node_modules'))) throw new Error(`There are packages in ${parent}: change TMPDIR`);
  }
  cpSync(file, join(folder, basename(file)));
  return folder;
}

/** @throws Error that says what went wrong */
function tryOut({ files = {}, commands, bundle }: Consumer, installation: string, redisUrl: string): void {
  const folder = mkdtempSync(join(work, 'app-'));
  cpSync(join(here, 'app'), folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  symlinkSync(join(installation, 'node_modules'), join(folder, 'node_modules'));
  for (const command of commands) run(command, folder, redisUrl);
  if (bundle) run(`node ${bundle}`, alone(join(folder, bundle)), redisUrl);
}

const [wanted = ''] = process.argv.slice(2);
const chosen = CONSUMERS.filter(({ name, isShort }) => (wanted === '--short' ? isShort : name.includes(wanted)));
const redis = await startRedisServer();
let failed = 0;
try {
  const tarball = packedLibrary(work);
  const installed = new Map<string, string>();
  for (const consumer of chosen) {
    const { name, installation } = consumer;
    if (!installed.has(installation)) installed.set(installation, install(installation, tarball));
    try {
      tryOut(consumer, installed.get(installation)!, redis.url);
      console.log(`pass  ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${name}\n${(error as Error).message}`);
    }
  }
} finally {
  await redis.stop();
  rmSync(work, { recursive: true, force: true });
}
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
