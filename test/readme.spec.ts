import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as library from '../src/index.ts';
import { moduleOptionFaults } from '../src/nest/module-options.ts';
import { RATE_LIMIT_OPTION_NAMES } from '../src/nest/rate-limit-options.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
const examples = blocks.filter((block) => block.startsWith('// examples/'));
// The first block is the whole in one glance, with an ellipsis for a body.
const snippets = blocks.filter((block) => !examples.includes(block) && !block.includes('{ … }'));

const NEST_COMMON = 'Body, Catch, Controller, Get, Inject, Injectable, Module, Param, Post, UseGuards';
const PRELUDE = `
import { ${NEST_COMMON} } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ${Object.keys(library).join(', ')} } from 'nestjs-floodgate';
declare class ConfigService { get(name: string): string }
`;

/** What other snippets of the README declare. */
const DECLARED = [
  ['class AppModule', 'declare class AppModule {}'],
  ['class LocalAuthGuard', 'declare class LocalAuthGuard {}'],
  ['function emailOf', 'declare function emailOf(context: ExecutionContext): string | undefined;'],
] as const;

/** A snippet as a module: handlers without a class stand in a controller. */
const asModule = (snippet: string): string =>
  PRELUDE +
  DECLARED.filter(([name]) => !snippet.includes(name))
    .map(([, text]) => text)
    .join('\n') +
  (/^import |^export |^(@\w+\([^\n]*\n)*?.*\bclass /m.test(snippet)
    ? snippet
    : `@Controller() class Snippet {\n${snippet}\n}`) +
  '\nexport {};';

function faultsOf(sources: readonly string[]): readonly string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  const files = new Map(sources.map((source, i) => [join(root, `readme-${i}.ts`), source]));
  const host = ts.createCompilerHost({ ...options, noUnusedLocals: false });
  const disk = { ...host };
  host.fileExists = (file) => files.has(file) || disk.fileExists(file);
  host.readFile = (file) => files.get(file) ?? disk.readFile(file);
  host.getSourceFile = (file, language) =>
    files.has(file) ? ts.createSourceFile(file, files.get(file)!, language) : disk.getSourceFile(file, language);
  const program = ts.createProgram(
    [...files.keys()],
    { ...options, noUnusedLocals: false, noUnusedParameters: false },
    host,
  );
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

const namesInTable = (heading: string): readonly string[] => {
  const section = readme.slice(readme.indexOf(`\n## ${heading}\n`) + 1);
  const end = section.indexOf('\n## ');
  return [...section.slice(0, end).matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]!);
};

describe('the README', () => {
  it('shows code that compiles', () => {
    expect(snippets.length).toBeGreaterThan(5);
    expect(faultsOf(snippets.map(asModule))).toEqual([]);
  }, 60_000);

  it('shows examples as they are, which the e2e tests run', () => {
    expect(examples).toHaveLength(3);
    for (const block of examples) {
      const [heading, ...code] = block.split('\n');
      // Applications import compiled files; here the sources run.
      const source = readFileSync(join(root, heading!.replace('// ', '')), 'utf8').replaceAll(
        /(from '\..*)\.ts'/g,
        "$1.js'",
      );
      expect(code.join('\n')).toBe(source);
    }
  });

  it('lists every option of a rule, and no other', () => {
    expect(namesInTable('Rules')).toEqual(RATE_LIMIT_OPTION_NAMES);
  });

  it('lists options of the module that exist, and every one of them', () => {
    const names = namesInTable('The module');
    const [fault] = moduleOptionFaults({ nonsense: true } as object);
    const known = /is no option \((.*)\)/.exec(fault!)![1]!.split(', ');
    expect([...names].sort()).toEqual([...known].sort());
  });

  it('maps the folders that there are', () => {
    const map = readme.slice(readme.indexOf('## Code map'), readme.indexOf('## Contributing'));
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of folders) expect(map).toMatch(new RegExp(`^  ${name}/ `, 'm'));
    for (const [, name] of map.matchAll(/^ {2}([\w.-]+\/?) /gm))
      expect(existsSync(join(root, 'src', name!))).toBe(true);
  });

  it('links to sections that it has', () => {
    const anchors = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replace(/\s/g, '-'),
    );
    for (const [, anchor] of readme.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
  });

  it('starts with two commands that need nothing else', () => {
    const commands = [...readme.matchAll(/^```sh\n(.+)\n```$/gm)].map((match) => match[1]);
    expect(commands.slice(0, 2)).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
  });
});
