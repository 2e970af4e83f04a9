/**
 * `npm test`: what every change has to pass. `npm run test:full`: everything, or the parts that are named (docs/understand/testing.md).
 * Files that failed run once more, alone, since real processes on a busy machine are sometimes late; what fails again has failed, and
 * what passes then is named as unsteady (docs/decisions/02). Other arguments make it one plain run of jest: `npm test -- libs/auction`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from './build/tree.mjs';
import { judged, toLookAtAgain, totalsLine } from './jest/second-look.mjs';
import { isOfFullTier, PARTS, specsOf, TIER, unknownParts } from './tests/tiers.mjs';
import { slowestOf, TIMES } from './tests/times.mjs';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const PATIENCE = '--testTimeout=30000';
const SLOWEST = 20;

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

function allSpecs() {
  const env = { ...process.env, [TIER]: 'full' };
  const run = spawnSync(process.execPath, [JEST, '--listTests', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    env,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout.slice(run.stdout.indexOf('['))).map((path) => relative(ROOT, path));
}

/** A run whose totals come back as data; one that broke down before it had any gives none. */
async function counted(folder, name, args, env) {
  const file = join(folder, name);
  const code = await jest(args, { ...env, TOTALS_FILE: file });
  try {
    return { code, files: JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    return { code, files: undefined };
  }
}

async function inTwoLooks(folder, args, env) {
  const first = await counted(folder, 'first.json', args, env);
  const again = toLookAtAgain(first);
  if (again.length === 0) return { first, result: judged(first) };
  console.log(`\nOnce more, alone: ${again.join(', ')}\n`);
  const alone = ['--maxWorkers=1', '--runTestsByPath', ...again];
  const second = await counted(folder, 'second.json', alone, { ...env, SECOND_LOOK: '1' });
  return { first, result: judged(first, second) };
}

/** What docs/understand/testing.md is made from. A run of parts brings the times of its suites up to date, and leaves those of others. */
function keepTimes(tier, files, isWhole) {
  const kept = join(TIMES, `${tier}.json`);
  const ran = new Set(files.map(({ path }) => path));
  const before = isWhole || !existsSync(kept) ? [] : JSON.parse(readFileSync(kept, 'utf8'));
  const others = before.filter(({ path }) => !ran.has(path) && existsSync(join(ROOT, path)));
  mkdirSync(TIMES, { recursive: true });
  writeFileSync(kept, JSON.stringify([...others, ...files]));
}

async function wholeRun(tier, parts) {
  const env = tier === 'full' ? { [TIER]: 'full' } : {};
  const specs = parts.length > 0 ? specsOf(parts, allSpecs()) : [];
  const args = specs.length > 0 ? ['--runTestsByPath', ...specs] : [];
  const folder = mkdtempSync(join(tmpdir(), 'sotto-test-'));
  const { first, result } = await inTwoLooks(folder, args, env);
  rmSync(folder, { recursive: true, force: true });
  const files = first.files ?? [];
  if (first.files !== undefined) keepTimes(tier, files, parts.length === 0);
  console.log(`\nThe slowest of ${String(files.length)} suites:`);
  for (const line of slowestOf(files, SLOWEST)) console.log(line);
  if (result.brokeDown)
    console.log('no test failed, and yet jest ended with a fault: it says above what was left running');
  for (const name of result.unsteady) console.log(`unsteady: ${name}`);
  console.log(totalsLine(result));
  return result.failed === 0 ? 0 : 1;
}

const [first, ...rest] = process.argv.slice(2);
const unknown = first === '--full' ? unknownParts(rest) : [];
if (unknown.length > 0) {
  console.error(`no part is called ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
  process.exit(64);
}
build();
if (first === '--full') process.exitCode = await wholeRun('full', rest);
else if (first === undefined) process.exitCode = await wholeRun('change', []);
else
  process.exitCode = await jest(
    [first, ...rest],
    rest.concat(first).some(isOfFullTier) ? { [TIER]: 'full' } : {},
  );
