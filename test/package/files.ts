/**
 * Compares the files that npm would publish with those that are meant, and prints the sizes of the package.
 * Usage: npm run check:package, after npm run build. Exit status 1 when a file is missing or too many; each is named.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Sizes in bytes. */
interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

const ALWAYS = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist-cjs/package.json'];
const SOURCE = /^[\w./-]+\.ts$/;
const NO_SOURCE = /\.(spec|test|d)\.ts$/;
const SCRIPT = /^[\w-]+\.lua$/;

const filesIn = (folder: string): readonly string[] => readdirSync(join(root, folder), { recursive: true }) as string[];

/** A module, by its path in `src` without the ending, and what is built of it. */
const filesOfModule = (name: string): readonly string[] => [
  `src/${name}.ts`,
  ...['dist', 'dist-cjs'].flatMap((build) => ['js', 'js.map', 'd.ts'].map((ending) => `${build}/${name}.${ending}`)),
];

function meantFiles(): ReadonlySet<string> {
  const sources = filesIn('src').filter((file) => SOURCE.test(file) && !NO_SOURCE.test(file));
  const scripts = filesIn('lua').filter((file) => SCRIPT.test(file));
  return new Set([
    ...ALWAYS,
    ...scripts.map((file) => `lua/${file}`),
    ...sources.flatMap((file) => filesOfModule(file.slice(0, -'.ts'.length))),
  ]);
}

function dryPack(): Packed {
  // Scripts of the package would print between the JSON.
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(output) as [Packed];
  return packed;
}

const { size, unpackedSize, files } = dryPack();
const meant = meantFiles();
const packed = new Set(files.map(({ path }) => path));
const missing = [...meant].filter((file) => !packed.has(file));
const unmeant = [...packed].filter((file) => !meant.has(file));

console.log(`${size} bytes packed, ${unpackedSize} unpacked, ${packed.size} files`);
for (const file of missing) console.log(`missing: ${file}`);
for (const file of unmeant) console.log(`not meant to be published: ${file}`);
process.exitCode = missing.length + unmeant.length === 0 ? 0 : 1;
