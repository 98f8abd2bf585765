/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleNameMapper: {
    '^nestjs-floodgate$': '<rootDir>/src/index.ts',
    '^nestjs-floodgate/opentelemetry$': '<rootDir>/src/opentelemetry/index.ts',
    '^nestjs-floodgate/prometheus$': '<rootDir>/src/prometheus/index.ts',
    '^nestjs-floodgate/terminus$': '<rootDir>/src/terminus/index.ts',
  },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // A native ESM test file is never collected, about 11 MB each: workers are recycled instead.
  workerIdleMemoryLimit: '512MB',
  collectCoverageFrom: ['src/**/*.ts'],
  coverageProvider: 'babel',
};

export default config;
