/**
 * `npm test` runs the change tier, `npm run test:full` everything or named parts
 * (docs/understand/testing.md). Failed files run once more, alone; one that then passes is reported as
 * unsteady (docs/decisions/02). Other arguments start plain jest.
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
const TEST_TIMEOUT = '--testTimeout=30000';
const SLOWEST = 20;

function build() {
  const run = spawnSync(process.execPath, ['tools/build.mjs', '--if-stale'], { cwd: ROOT, stdio: 'inherit' });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

function jest(args, env = {}) {
  const child = spawn(process.execPath, [JEST, TEST_TIMEOUT, ...args], {
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

/** A run with its totals as data. Without totals if it crashed. */
async function counted(folder, name, args, env) {
  const file = join(folder, name);
  const code = await jest(args, { ...env, TOTALS_FILE: file });
  try {
    return { code, files: JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    return { code, files: undefined };
  }
}

async function runTwice(folder, args, env) {
  const first = await counted(folder, 'first.json', args, env);
  const again = toLookAtAgain(first);
  if (again.length === 0) return { first, result: judged(first) };
  console.log(`\nOnce more, alone: ${again.join(', ')}\n`);
  const alone = ['--maxWorkers=1', '--runTestsByPath', ...again];
  const second = await counted(folder, 'second.json', alone, { ...env, SECOND_LOOK: '1' });
  return { first, result: judged(first, second) };
}

/** The data for docs/understand/testing.md. A partial run updates only the times of its own suites. */
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
  const { first, result } = await runTwice(folder, args, env);
  rmSync(folder, { recursive: true, force: true });
  const files = first.files ?? [];
  if (first.files !== undefined) keepTimes(tier, files, parts.length === 0);
  console.log(`\nThe slowest of ${String(files.length)} suites:`);
  for (const line of slowestOf(files, SLOWEST)) console.log(line);
  if (result.brokeDown)
    console.log('no test failed, but jest ended with a fault: see above for what was left running');
  for (const name of result.unsteady) console.log(`unsteady: ${name}`);
  console.log(totalsLine(result));
  return result.failed === 0 ? 0 : 1;
}

const [first, ...rest] = process.argv.slice(2);
const unknown = first === '--full' ? unknownParts(rest) : [];
if (unknown.length > 0) {
  console.error(`unknown part: ${unknown.join(', ')}; the parts are ${Object.keys(PARTS).join(', ')}`);
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
