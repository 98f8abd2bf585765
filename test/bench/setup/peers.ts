import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packedLibrary } from '../../support/packed-library.ts';

const folder = fileURLToPath(new URL('../peers', import.meta.url));
const inFolder = (...path: string[]): string => join(folder, ...path);
const COMPILER = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

/** A compiled module of the peers' folder. */
export const peerModule = (name: string): URL => new URL(`../peers/dist/bench/peers/${name}.js`, import.meta.url);

/** Installs the peers and, beside them, the library as it is published; needs the registry. */
export function installPeers(): void {
  const npm = (...args: string[]): unknown =>
    execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
  if (!isInstalled()) npm('ci');
  const packed = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
  try {
    npm('install', '--no-save', '--prefer-offline', packedLibrary(packed));
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
  rmSync(inFolder('dist'), { recursive: true, force: true });
  execFileSync(process.execPath, [COMPILER, '-p', folder], { stdio: 'inherit' });
}

/** Whether what the lock file says was installed after it was written. */
function isInstalled(): boolean {
  const installed = inFolder('node_modules/.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(inFolder('package-lock.json')).mtimeMs;
}

const packageAt = (path: string): { version: string; dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(inFolder(path, 'package.json'), 'utf8')) as { version: string };

/** The version of each package that is measured, by name. */
export function peerVersions(): Readonly<Record<string, string>> {
  const names = ['nestjs-floodgate', ...Object.keys(packageAt('.').dependencies ?? {})];
  return Object.fromEntries(names.map((name) => [name, packageAt(join('node_modules', name)).version]));
}
