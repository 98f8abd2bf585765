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
  'nest-11': [...NEST_11, ...ALWAYS, 'ioredis@5.4.0', 'typescript@5.9', 'tsx@4'],
  'nest-12': [...NEST_12, ...ALWAYS, 'ioredis@6', 'typescript@6.0', 'tsx@4', 'vitest@4', 'unplugin-swc@1'],
  'ioredis-5': [...NEST_11, ...ALWAYS, 'ioredis@5', 'typescript@5.4', 'tsx@4'],
} as const;

const strictly = {
  strict: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  esModuleInterop: true,
  target: 'es2022',
  types: ['node'],
  outDir: 'dist',
  skipLibCheck: false,
  lib: ['es2023', 'dom'],
};
const tsconfig = (options: object): string =>
  JSON.stringify({ compilerOptions: { ...strictly, ...options }, include: ['*.ts'] });
const packageJson = (type: 'commonjs' | 'module'): string => JSON.stringify({ name: 'consumer', private: true, type });

const swcTransform = JSON.stringify({
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
});
const jestConfig = (esm: boolean): string =>
  JSON.stringify({
    transform: { '^.+\\.ts$': ['@swc/jest', JSON.parse(swcTransform)] },
    moduleNameMapper: { '^\\./limited-app\\.js$': './limited-app.ts' },
    ...(esm && { extensionsToTreatAsEsm: ['.ts'] }),
  });
const bundled = (format: 'cjs' | 'esm', out: string): string =>
  `npx esbuild dist/main.js --bundle --platform=node --format=${format} --outfile=${out} --log-level=error ` +
  '--external:@nestjs/microservices --external:@nestjs/websockets --external:@nestjs/microservices/* --external:@nestjs/websockets/* --external:class-validator --external:class-transformer --external:@fastify/static --external:@fastify/view --external:@fastify/multipart';

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
    files: { 'package.json': packageJson('commonjs'), 'jest.config.json': jestConfig(false) },
    commands: ['npx jest --config jest.config.json'],
  },
  {
    name: 'Nest 11, CommonJS, TypeScript 5.4, the latest ioredis 5',
    installation: 'ioredis-5',
    files: { 'package.json': packageJson('commonjs'), 'tsconfig.json': tsconfig({ module: 'node16' }) },
    commands: ['npx tsc', 'node dist/main.js'],
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
    commands: ['npx tsc', 'node dist/main.js'],
  },
  {
    name: 'Nest 12, CommonJS application that requires ES modules',
    installation: 'nest-12',
    files: { 'package.json': packageJson('commonjs'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsc', 'node dist/main.js'],
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
    files: { 'package.json': packageJson('module'), 'jest.config.json': jestConfig(true) },
    commands: ['node --experimental-vm-modules node_modules/jest/bin/jest.js --config jest.config.json'],
  },
  {
    name: 'Nest 12, Vitest',
    installation: 'nest-12',
    files: { 'package.json': packageJson('module'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx vitest run --globals'],
  },
  {
    name: 'Nest 12, one bundled CommonJS file',
    installation: 'nest-12',
    files: { 'package.json': packageJson('commonjs'), 'tsconfig.json': tsconfig({ module: 'nodenext' }) },
    commands: ['npx tsc', bundled('cjs', 'alone.cjs'), 'node alone.cjs'],
  },
];
