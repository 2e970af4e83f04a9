import { ensureVmModules } from './tools/jest/vm-modules.mjs';
import { TIER } from './tools/tests/tiers.mjs';

await ensureVmModules();

const OUTSIDE = ['/node_modules/', '/dist/', '/dist.next/', '/test/house/fixtures/'];
/** Specs of the full tier are seen when it runs, or when one is named. */
const isFullTier =
  process.env[TIER] === 'full' || process.argv.some((argument) => argument.includes('.full'));
const IGNORED = isFullTier ? OUTSIDE : [...OUTSIDE, '\\.full\\.spec\\.ts$'];
/** What starts clusters, campaigns or brokers. */
const STARTS_PROCESSES = [
  '/test/e2e/',
  '\\.own\\.spec\\.ts$',
  '\\.full\\.spec\\.ts$',
  '\\.db\\.',
  '\\.kafka\\.',
];

const project = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'json', 'node'],
  // Imports name the compiled file (`./money.js`, `#libs/base/money.js`); under jest the source stands in for it.
  moduleNameMapper: {
    '^#(apps|libs)/(.*)\\.js$': '<rootDir>/$1/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/dist.next/'],
  // Compiler options come from .swcrc, the same as in the build.
  transform: { '\\.ts$': '@swc/jest' },
};

/** What clients say to a cluster and hear from it is recorded. */
const recorded = {
  runner: '<rootDir>/tools/jest/outside-runner.mjs',
  setupFiles: ['<rootDir>/libs/testing/interface/observe-clients.ts'],
};

const withPostgres = {
  globalSetup: '<rootDir>/tools/jest/postgres-setup.mjs',
  globalTeardown: '<rootDir>/tools/jest/postgres-teardown.mjs',
};

export default {
  maxWorkers: 2,
  // Until something hangs rather than waits: a machine that is busy with something else makes no test fail.
  testTimeout: 30_000,
  reporters:
    process.env.TOTALS_FILE === undefined
      ? ['default', '<rootDir>/tools/jest/totals-reporter.mjs']
      : ['<rootDir>/tools/jest/progress-reporter.mjs'],
  projects: [
    {
      ...project,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apps,bench,libs,test}/**/*.spec.ts'],
      testPathIgnorePatterns: [...IGNORED, ...STARTS_PROCESSES],
    },
    {
      ...project,
      ...withPostgres,
      displayName: 'integration',
      testMatch: ['<rootDir>/{apps,bench,libs,test}/**/*.db{,.full}.spec.ts'],
      testPathIgnorePatterns: [...IGNORED, '/test/e2e/'],
    },
    {
      ...project,
      displayName: 'kafka',
      testMatch: ['<rootDir>/{apps,bench,libs,test}/**/*.kafka{,.full}.spec.ts'],
      testPathIgnorePatterns: IGNORED,
      ...recorded,
    },
    {
      ...project,
      ...withPostgres,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.spec.ts', '<rootDir>/test/**/*.{own,full}.spec.ts'],
      testPathIgnorePatterns: [...IGNORED, '\\.db\\.', '\\.kafka\\.'],
      ...recorded,
    },
  ],
};
