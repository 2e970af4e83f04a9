/**
 * `npm test`: all suites in two lanes at once. End-to-end tests mostly wait (for auctions to close, for processes to come back), and
 * the others meanwhile use the cores. With arguments it is one plain run of jest: `npm test -- libs/auction`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './build/tree.mjs';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const PATIENCE = '--testTimeout=30000';
const TOTALS = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm;

function build() {
  const run = spawnSync(process.execPath, ['tools/build.mjs', '--if-stale'], { cwd: ROOT, stdio: 'inherit' });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

function jest(args, stdio) {
  return spawn(process.execPath, [JEST, PATIENCE, ...args], { cwd: ROOT, stdio });
}

function ended(child) {
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

/** Shows what the lane says: at once, or in one piece when it is over, so that two lanes do not talk across each other. */
async function lane(args, { isQuiet }) {
  const child = jest(args, ['ignore', 'pipe', 'pipe']);
  const said = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said.push(chunk);
      if (!isQuiet) process.stdout.write(chunk);
    });
  }
  const code = await ended(child);
  const text = Buffer.concat(said).toString();
  if (isQuiet) process.stdout.write(text);
  const [, passed = 0, failed = 0, skipped = 0] = [...text.matchAll(TOTALS)].at(-1) ?? [];
  return { code, passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

build();
const args = process.argv.slice(2);
if (args.length > 0) {
  process.exitCode = await ended(jest(args, 'inherit'));
} else {
  const workers = String(Math.max(1, availableParallelism() - 1));
  const lanes = await Promise.all([
    lane(['--ignoreProjects', 'e2e', '--maxWorkers', workers], { isQuiet: false }),
    lane(['--selectProjects', 'e2e'], { isQuiet: true }),
  ]);
  const sum = (of) => lanes.reduce((total, one) => total + of(one), 0);
  // A lane that broke down without a failed test has failed all the same.
  const failed = sum((one) => (one.code !== 0 && one.failed === 0 ? 1 : one.failed));
  const skipped = sum((one) => one.skipped);
  console.log(
    `${sum((one) => one.passed)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
}
