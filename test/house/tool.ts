import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));
export const ESLINT = 'node_modules/eslint/bin/eslint.js';
export const DEPCRUISE = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs';

/** The configured graph rules, as the checker itself loads them. */
export function graphRules(): readonly { readonly name: string }[] {
  const config = require('../../.dependency-cruiser.cjs') as { forbidden: { name: string }[] };
  return config.forbidden;
}

export interface ToolOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script, by a path from the root or an absolute one, with `input` on its standard input. */
export function runTool(
  script: string,
  args: readonly string[],
  cwd: string,
  input = '',
): Promise<ToolOutcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [resolvePath(ROOT, script), ...args],
      { cwd },
      (error, stdout, stderr) => {
        resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
    child.stdin?.end(input);
  });
}
