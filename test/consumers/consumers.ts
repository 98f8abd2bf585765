import { bundleScript, esbuild, jestConfig, packageJson, swcrc, tsconfig } from './configs.ts';

/** An application as somebody may have it. */
export interface Consumer {
  readonly name: string;
  /** The installation that it runs in. */
  readonly installation: keyof typeof INSTALLATIONS;
  /** Files besides the shared application, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether every change is tried in it: one of each major of Nest, and of each module system. */
  readonly isShort?: boolean;
  /** Run in a folder of its own, one after another. */
  readonly commands: readonly string[];
  /** One file that the commands make; it is run where no package is found. */
  readonly bundle?: string;
}

const NEST_11 = ['common', 'core', 'platform-express', 'platform-fastify'].map((name) => `@nestjs/${name}@11`);
const NEST_12 = ['common', 'core', 'platform-express', 'platform-fastify'].map((name) => `@nestjs/${name}@12`);
const ALWAYS = [
  '@types/express@5',
  'reflect-metadata@0.2',
  'rxjs@7',
  '@types/node@20',
  '@swc/core@1',
  '@swc/jest@0.2',
  'jest@30',
  'esbuild@0.28',
];

/** What is installed from the registry, besides the packed library. */
export const INSTALLATIONS = {
  'nest-11': [...NEST_11, ...ALWAYS, 'ioredis@5.4.0', 'typescript@5.9', 'tsx@4', 'webpack@5', 'ts-loader@9'],
  'nest-12': [
    ...NEST_12,
    ...ALWAYS,
    'ioredis@6',
    'typescript@6.0',
    'tsx@4',
    'vitest@4',
    'unplugin-swc@1',
    '@swc/cli@0.8',
    'webpack@5',
    'ts-loader@9',
    '@rspack/core@2',
  ],
  'ioredis-5': [...NEST_11, ...ALWAYS, 'ioredis@5', 'typescript@5.4', 'tsx@4'],
} as const;

export const CONSUMERS: readonly Consumer[] = [
  {
    name: 'Nest 11, CommonJS compiled with node10 resolution, ioredis 5.4',
    installation: 'nest-11',
    files: {
      'package.json': packageJson('commonjs'),
      'tsconfig.json': tsconfig({ module: 'commonjs', moduleResolution: 'node10' }),
    },
    commands: ['npx tsc', 'node dist/main.js'],
  },
  {
    name: 'Nest 11, ESM compiled with nodenext, ioredis 5.4',
    installation: 'nest-11',
    files: { 'package.json': packageJson('module'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsc', 'node dist/main.js'],
  },
  {
    name: 'Nest 11, CommonJS Jest',
    isShort: true,
    installation: 'nest-11',
    files: { 'package.json': packageJson('commonjs'), 'jest.config.json': jestConfig('commonjs') },
    commands: ['npx jest --config jest.config.json'],
  },
  {
    name: 'Nest 11, CommonJS, TypeScript 5.4, the latest ioredis 5',
    installation: 'ioredis-5',
    files: { 'package.json': packageJson('commonjs'), 'tsconfig.json': tsconfig({ module: 'node16' }) },
    commands: ['npx tsc', 'node dist/main.js', 'node dist/injected.js', 'node dist/both-ways.js'],
  },
  {
    name: 'Nest 11, CommonJS application under tsx',
    installation: 'nest-11',
    files: { 'package.json': packageJson('commonjs'), 'tsconfig.json': tsconfig({ module: 'node16' }) },
    commands: ['npx tsx main.ts'],
  },
  {
    name: 'Nest 12, ESM compiled with nodenext, ioredis 6',
    isShort: true,
    installation: 'nest-12',
    files: { 'package.json': packageJson('module'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsc', 'node dist/main.js', 'node dist/injected.js', 'node dist/both-ways.js'],
  },
  {
    name: 'Nest 12, CommonJS application that requires ES modules',
    installation: 'nest-12',
    files: { 'package.json': packageJson('commonjs'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsc', 'node dist/main.js', 'node dist/both-ways.js'],
  },
  {
    name: 'Nest 12, ESM application under tsx',
    installation: 'nest-12',
    files: { 'package.json': packageJson('module'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsx main.ts'],
  },
  {
    name: 'Nest 12, Jest with native ES modules',
    installation: 'nest-12',
    files: { 'package.json': packageJson('module'), 'jest.config.json': jestConfig('module') },
    commands: ['node --experimental-vm-modules node_modules/jest/bin/jest.js --config jest.config.json'],
  },
  {
    name: 'Nest 12, Vitest',
    installation: 'nest-12',
    files: { 'package.json': packageJson('module'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx vitest run --globals'],
  },
  {
    name: 'Nest 12, ESM compiled by SWC',
    installation: 'nest-12',
    files: { 'package.json': packageJson('module'), '.swcrc': swcrc },
    commands: ['npx swc *.ts --out-dir dist', 'node dist/main.js', 'node dist/injected.js', 'node dist/both-ways.js'],
  },
  {
    name: 'Nest 12, bundled into one CommonJS file by esbuild',
    installation: 'nest-12',
    files: { 'package.json': packageJson('commonjs'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsc', esbuild('commonjs', 'alone.cjs')],
    bundle: 'alone.cjs',
  },
  {
    name: 'Nest 12, bundled into one ES module by esbuild',
    installation: 'nest-12',
    files: { 'package.json': packageJson('module'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsc', esbuild('module', 'alone.mjs')],
    bundle: 'alone.mjs',
  },
  {
    name: 'Nest 11, bundled into one CommonJS file by webpack',
    installation: 'nest-11',
    files: {
      'package.json': packageJson('commonjs'),
      'tsconfig.json': tsconfig({ module: 'nodenext' }),
      'bundle.mjs': bundleScript('webpack', { mode: 'none' }, 'alone.cjs'),
    },
    commands: ['node bundle.mjs'],
    bundle: 'alone.cjs',
  },
  {
    name: 'Nest 12, bundled into one ES module by webpack',
    installation: 'nest-12',
    files: {
      'package.json': packageJson('module'),
      'tsconfig.json': tsconfig({ module: 'nodenext' }),
      'bundle.mjs': bundleScript('webpack', { mode: 'none', experiments: { outputModule: true } }, 'alone.mjs'),
    },
    commands: ['node bundle.mjs'],
    bundle: 'alone.mjs',
  },
  {
    name: 'Nest 12, bundled into one minified ES module by rspack',
    installation: 'nest-12',
    files: {
      'package.json': packageJson('module'),
      'bundle.mjs': bundleScript('@rspack/core', { mode: 'production' }, 'alone.mjs'),
    },
    commands: ['node bundle.mjs'],
    bundle: 'alone.mjs',
  },
];
