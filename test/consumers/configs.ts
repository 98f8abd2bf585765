type ModuleSystem = 'commonjs' | 'module';

export const packageJson = (type: ModuleSystem): string => JSON.stringify({ name: 'consumer', private: true, type });

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
export const tsconfig = (options: object): string =>
  JSON.stringify({ compilerOptions: { ...strictly, ...options }, include: ['*.ts'] });

const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
};
export const swcrc = JSON.stringify(swc);

export const jestConfig = (type: ModuleSystem): string =>
  JSON.stringify({
    transform: { '^.+\\.ts$': ['@swc/jest', swc] },
    moduleNameMapper: { '^\\./(limited-app|loaded-copies)\\.js$': './$1.ts' },
    ...(type === 'module' && { extensionsToTreatAsEsm: ['.ts'] }),
  });

/** What Nest tries to load and does without. */
const OPTIONAL = [
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@fastify/static',
  '@fastify/view',
  '@fastify/multipart',
  'class-transformer',
  'class-validator',
];

// The CommonJS packages in an ES module call `require`, which it does not have.
const REQUIRE = "import { createRequire as from } from 'node:module'; const require = from(import.meta.url);";

/** The command that makes one file, all dependencies included, of `dist/main.js`. */
export const esbuild = (type: ModuleSystem, out: string): string =>
  [
    `npx esbuild dist/main.js --bundle --platform=node --log-level=error --outfile=${out}`,
    type === 'module' ? `--format=esm --banner:js="${REQUIRE}"` : '--format=cjs',
    ...OPTIONAL.map((name) => `--external:${name}`),
  ].join(' ');

const TYPESCRIPT_BY = {
  webpack: { loader: 'ts-loader' },
  '@rspack/core': { loader: 'builtin:swc-loader', options: swc },
};

/** A script that makes one file, all dependencies included, of `main.ts`. */
export const bundleScript = (bundler: keyof typeof TYPESCRIPT_BY, options: object, out: string): string => `
import bundler from '${bundler}';

const config = {
  target: 'node20',
  devtool: false,
  entry: './main.ts',
  output: { path: process.cwd(), filename: '${out}', module: ${out.endsWith('.mjs')} },
  resolve: { extensions: ['.ts', '.js'], extensionAlias: { '.js': ['.ts', '.js'] } },
  module: {
    parser: { javascript: { dynamicImportMode: 'eager' } },
    rules: [{ test: /\\.ts$/, use: ${JSON.stringify(TYPESCRIPT_BY[bundler])} }],
  },
  plugins: [new bundler.IgnorePlugin({ resourceRegExp: /^(${OPTIONAL.join('|').replaceAll('/', '\\/')})(\\/|$)/ })],
  ...${JSON.stringify(options)},
};
bundler(config, (error, stats) => {
  if (!error && !stats.hasErrors()) return;
  console.error(error ?? stats.toString('errors-only'));
  process.exitCode = 1;
});
`;
