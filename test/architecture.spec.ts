import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

const filesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/node_modules|dist/.test(relative(root, file)));

const importsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);

/** The folder of `src` that a file lies in; `''` for src itself. */
const folderOf = (file: string): string => {
  const [first = '', ...rest] = relative(src, file).split('/');
  return rest.length === 0 ? '' : first;
};

/** What the files of each folder may import: folders of `src`, and packages. The providers of the module are what knows every folder. */
const MAY_IMPORT: Readonly<Record<string, { folders: readonly string[]; packages: readonly string[] }>> = {
  core: { folders: [], packages: [] },
  memory: { folders: ['core'], packages: [] },
  failure: { folders: ['core', 'memory'], packages: [] },
  redis: { folders: ['core'], packages: ['ioredis', 'node:crypto'] },
  transports: { folders: ['core'], packages: ['@nestjs/common', 'ipaddr.js'] },
  waiting: { folders: ['core'], packages: [] },
  nest: {
    folders: ['core', 'transports', 'waiting'],
    packages: ['@nestjs/common', '@nestjs/core', 'node:crypto', 'rxjs'],
  },
  metrics: { folders: ['core', 'nest'], packages: [] },
  opentelemetry: { folders: ['metrics', 'nest'], packages: ['@nestjs/common', '@opentelemetry/api'] },
  prometheus: { folders: ['core', 'metrics', 'nest'], packages: ['@nestjs/common', 'prom-client'] },
  terminus: { folders: ['core', 'nest'], packages: ['@nestjs/common', '@nestjs/terminus'] },
  '': { folders: ['core', 'memory', 'failure', 'redis'], packages: [] },
};
/** Files that put the parts together. */
const COMPOSES = ['index.ts', 'nest/rate-limit.providers.ts', 'nest/live-rules.providers.ts', 'nest/module-options.ts'];

describe('the architecture', () => {
  const files = filesIn(src, '.ts');

  it.each(files.map((file) => relative(src, file)))('%s imports only what its folder may', (name) => {
    const file = join(src, name);
    const folder = folderOf(file);
    const { folders, packages } = MAY_IMPORT[folder]!;
    const mayImport = (specifier: string): boolean => {
      if (!specifier.startsWith('.')) return packages.includes(specifier);
      const target = folderOf(join(dirname(file), specifier));
      return target === folder || folders.includes(target) || COMPOSES.includes(name);
    };
    expect(importsOf(file).filter((specifier) => !mayImport(specifier))).toEqual([]);
  });

  it('has no import cycle', () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file).flatMap((to) => (to.startsWith('.') ? [join(dirname(file), to)] : [])),
      ]),
    );
    const cycleFrom = (file: string, path: readonly string[] = []): readonly string[] => {
      if (path.includes(file)) return [...path, file];
      for (const next of graph.get(file) ?? []) {
        const cycle = cycleFrom(next, [...path, file]);
        if (cycle.length > 0) return cycle;
      }
      return [];
    };
    expect(
      files
        .map((file) =>
          cycleFrom(file)
            .map((each) => relative(src, each))
            .join(' → '),
        )
        .filter(Boolean),
    ).toEqual([]);
  });

  it.each(
    [...files.filter((file) => !file.endsWith('lua-sources.ts')), ...filesIn(join(root, 'lua'), '.lua')].map((file) =>
      relative(root, file),
    ),
  )('%s is one concept: at most 200 lines', (name) => {
    expect(readFileSync(join(root, name), 'utf8').split('\n').length).toBeLessThanOrEqual(201);
  });

  it('shows examples that import the package as its users do', () => {
    for (const file of filesIn(join(root, 'examples'), '.ts')) {
      for (const specifier of importsOf(file)) expect(specifier).not.toMatch(/\/(src|test|dist)\//);
    }
  });

  it('names no class of ioredis in a public type', () => {
    for (const file of files) {
      expect(readFileSync(file, 'utf8')).not.toMatch(/import (type )?\{[^}]*\} from 'ioredis'/);
    }
  });
});
