import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the library and packs it as it is published. Returns the path of the file, which lies in this folder. */
export function packedLibrary(folder: string): string {
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' });
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, encoding: 'utf8' });
  const [packed] = JSON.parse(output) as [{ filename: string; size: number; unpackedSize: number; entryCount: number }];
  console.log(
    `${packed.filename}: ${packed.size} bytes packed, ${packed.unpackedSize} unpacked, ${packed.entryCount} files`,
  );
  return join(folder, packed.filename);
}
