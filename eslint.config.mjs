import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { noAmbientInputs, houseSyntax } from './tools/lint/bans.mjs';

const SOURCES = ['{apps,bench,libs,test}/**/*.ts'];
const TESTS = ['**/*.spec.ts', 'test/**/*.ts', 'libs/testing/**/*.ts', 'bench/**/*.ts'];
const SCRIPTS = ['**/*.{mjs,cjs}'];

const sizes = {
  'max-lines': ['error', { max: 500, skipBlankLines: false, skipComments: false }],
  'max-lines-per-function': ['error', { max: 70, skipBlankLines: false, skipComments: false }],
  'max-params': ['error', 6],
};

const house = {
  ...sizes,
  eqeqeq: 'error',
  'no-implicit-coercion': 'error',
  'object-shorthand': 'error',
  'no-param-reassign': 'error',
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/explicit-member-accessibility': ['error', { accessibility: 'no-public' }],
  '@typescript-eslint/explicit-module-boundary-types': 'error',
  '@typescript-eslint/no-import-type-side-effects': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { allowDefaultCaseForExhaustiveSwitch: false, considerDefaultExhaustiveForUnions: true },
  ],
};

/** Where the strict preset and this house want different things. */
const tuned = {
  // Nest modules, and controllers whose routes are all inherited, are classes without members.
  '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
  // Numbers and bigints print the same everywhere; objects and undefined do not.
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  // `() => socket.end()` is how callbacks are written here.
  '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
  // `for (;;)` with a comment is clearer, yet `while (true)` is what everybody knows.
  '@typescript-eslint/no-unnecessary-condition': [
    'error',
    { allowConstantLoopConditions: 'only-allowed-literals' },
  ],
};

export default defineConfig(
  { ignores: ['dist/', 'dist.next/', 'coverage/', '.data/', 'test/house/fixtures/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
  {
    files: SOURCES,
    extends: [
      js.configs.recommended,
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked,
    ],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: { ...house, ...tuned, ...houseSyntax },
  },
  {
    files: ['{apps,libs}/**/*.ts'],
    // The adapters of time and configuration, and the composition roots that hand the environment to them.
    ignores: ['libs/platform/**', 'apps/*/main.ts', 'apps/cli/*.ts', ...TESTS],
    rules: noAmbientInputs,
  },
  {
    // A console says nothing of output that could not be written: standard-output.ts does.
    files: ['apps/cli/**/*.ts', 'libs/auction/proof/**/*.ts'],
    rules: { 'no-console': ['error', { allow: ['error'] }] },
  },
  {
    files: TESTS,
    rules: {
      // A `describe` is as long as its cases; a wrong index throws, which fails the test as it should.
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // Jest takes global hooks by their default export.
    files: ['libs/testing/database/postgres-{setup,teardown}.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: SCRIPTS,
    extends: [js.configs.recommended],
    languageOptions: {
      globals: {
        URL: 'readonly',
        console: 'readonly',
        performance: 'readonly',
        Buffer: 'readonly',
        process: 'readonly',
        setTimeout: 'readonly',
      },
    },
    rules: sizes,
  },
  {
    files: ['**/*.cjs'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: { __dirname: 'readonly', module: 'writable', require: 'readonly' },
    },
  },
);
