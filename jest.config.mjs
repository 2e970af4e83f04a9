import { ensureVmModules } from './tools/jest/vm-modules.mjs';

await ensureVmModules();

const DB_SPEC = '\\.db\\.spec\\.ts$';
const KAFKA_SPEC = '\\.kafka\\.spec\\.ts$';
const END_TO_END = '/test/e2e/';
const OUTSIDE = ['/node_modules/', '/dist/', '/dist.next/', '/test/house/fixtures/'];

const project = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'json', 'node'],
  // Imports name the compiled file (`./money.js`, `#libs/auction/money.js`); under jest the source stands in for it.
  moduleNameMapper: {
    '^#(apps|libs)/(.*)\\.js$': '<rootDir>/$1/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/dist.next/'],
  // Compiler options come from .swcrc, the same as in the build.
  transform: { '\\.ts$': '@swc/jest' },
};

const withPostgres = {
  globalSetup: '<rootDir>/tools/jest/postgres-setup.mjs',
  globalTeardown: '<rootDir>/tools/jest/postgres-teardown.mjs',
};

export default {
  maxWorkers: 2,
  // Until something hangs rather than waits: a machine that is busy with something else makes no test fail.
  testTimeout: 30_000,
  reporters: ['default', '<rootDir>/tools/jest/totals-reporter.mjs'],
  projects: [
    {
      ...project,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apps,bench,libs,test}/**/*.spec.ts'],
      testPathIgnorePatterns: [...OUTSIDE, DB_SPEC, KAFKA_SPEC, END_TO_END],
    },
    {
      ...project,
      ...withPostgres,
      displayName: 'integration',
      testMatch: ['<rootDir>/{apps,bench,libs,test}/**/*.db.spec.ts'],
      testPathIgnorePatterns: [...OUTSIDE, END_TO_END],
    },
    {
      ...project,
      displayName: 'kafka',
      testMatch: ['<rootDir>/{apps,bench,libs,test}/**/*.kafka.spec.ts'],
      testPathIgnorePatterns: OUTSIDE,
      runner: '<rootDir>/tools/jest/outside-runner.mjs',
    },
    {
      ...project,
      ...withPostgres,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.spec.ts'],
      testPathIgnorePatterns: OUTSIDE,
      runner: '<rootDir>/tools/jest/outside-runner.mjs',
    },
  ],
};
