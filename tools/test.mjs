/**
 * `npm test`: every suite. What failed is looked at once more, alone, for real processes on a busy machine are late now and then;
 * what fails again has failed, and what does not is named as unsteady (docs/decisions/0072). With arguments it is one plain run of
 * jest: `npm test -- libs/auction`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './build/tree.mjs';
import { judged, toLookAtAgain, totalsLine } from './jest/second-look.mjs';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const PATIENCE = '--testTimeout=30000';

function build() {
  const run = spawnSync(process.execPath, ['tools/build.mjs', '--if-stale'], { cwd: ROOT, stdio: 'inherit' });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

function jest(args, env = {}) {
  const child = spawn(process.execPath, [JEST, PATIENCE, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

/** A run whose totals come back as data; one that broke down before it had any gives none. */
async function counted(folder, name, args, env = {}) {
  const file = join(folder, name);
  const code = await jest(args, { ...env, TOTALS_FILE: file });
  try {
    return { code, files: JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    return { code, files: undefined };
  }
}

async function wholeSuite(folder) {
  const first = await counted(folder, 'first.json', []);
  const again = toLookAtAgain(first);
  if (again.length === 0) return judged(first);
  console.log(`\nOnce more, alone: ${again.join(', ')}\n`);
  const second = await counted(folder, 'second.json', ['--maxWorkers=1', '--runTestsByPath', ...again], {
    SECOND_LOOK: '1',
  });
  return judged(first, second);
}

build();
const args = process.argv.slice(2);
if (args.length > 0) {
  process.exitCode = await jest(args);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-test-'));
  const result = await wholeSuite(folder);
  rmSync(folder, { recursive: true, force: true });
  if (result.brokeDown)
    console.log('no test failed, and yet jest ended with a fault: it says above what was left running');
  for (const name of result.unsteady) console.log(`unsteady: ${name}`);
  console.log(totalsLine(result));
  process.exitCode = result.failed === 0 ? 0 : 1;
}
