/**
 * Plants one bug after another in a copy of the compiled tree and lets the simulator look for it:
 * `npm run simulate:mutants -- [--count N] [--lanes K] [name ...]`. A bug that is not found within N seeds fails the run.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { transformSync } from '@swc/core';

const ROOT = join(import.meta.dirname, '../../..');
const SIMULATOR = 'dist/test/simulator/main.js';
/** Some bugs let no world come to an end; a sound one takes about a second. */
const PATIENCE = ['--patience', '30'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '1000' }, lanes: { type: 'string', default: '2' } },
});

/** What is no number makes no lane, and a run that has planted nothing must not say that all was found. */
function atLeastOne(option) {
  const number = Number(values[option]);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  console.error(`--${option} must be a whole number from 1`);
  process.exit(64);
}

const count = atLeastOne('count');
const lanes = atLeastOne('lanes');

function mutants() {
  const names = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.patch'))
    .map((file) => file.slice(0, -'.patch'.length))
    .sort();
  if (positionals.length === 0) return names;
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`there is no mutant ${unknown.join(', ')}`);
  return positionals;
}

/** A tree that runs like this one and can be spoiled. */
function copyTree() {
  const copy = mkdtempSync(join(tmpdir(), 'sotto-mutants-'));
  cpSync(join(ROOT, 'dist'), join(copy, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Compiles the spoiled source over the sound one; gives a function that undoes it. */
function plant(copy, name) {
  const patch = readFileSync(join(import.meta.dirname, `${name}.patch`), 'utf8');
  const path = /^\+\+\+ b\/(.+)$/m.exec(patch)?.[1];
  if (path === undefined) throw new Error(`${name} names no file`);
  mkdirSync(join(copy, dirname(path)), { recursive: true });
  cpSync(join(ROOT, path), join(copy, path));
  const patched = spawnSync('git', ['apply', '-'], {
    cwd: copy,
    input: patch,
    encoding: 'utf8',
  });
  if (patched.status !== 0)
    throw new Error(`${name} does not fit ${path} any more:\n${patched.stdout}${patched.stderr}`);
  const options = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8'));
  delete options.$schema;
  const { code } = transformSync(readFileSync(join(copy, path), 'utf8'), {
    ...options,
    filename: path,
    sourceMaps: false,
    swcrc: false,
  });
  const compiled = join(copy, 'dist', path.replace(/\.ts$/, '.js'));
  const sound = readFileSync(compiled);
  writeFileSync(compiled, code);
  return () => writeFileSync(compiled, sound);
}

/** The first seed that finds the bug, and what it says; undefined for none. */
async function search(copy) {
  const output = await simulated(copy, [
    '--seed',
    '1',
    '--count',
    String(count),
    '--threads',
    '1',
    '--no-shrink',
  ]);
  const found = /^seed (\d+): (.+)$/m.exec(output);
  const digest = /^seed \d+ fails at commit .*, trace (\S+)$/m.exec(output)?.[1];
  return found === null ? undefined : { seed: found[1], what: found[2].slice(0, 140), digest };
}

/** Whether its seed alone finds it again by the same trace, as a report promises; of a world that never ended that is said as well. */
async function isReplayed(copy, { seed, digest }) {
  const told = /^seed \d+: trace (\S+), (.*)$/m.exec(await simulated(copy, ['--seed', seed, '--trace']));
  return told !== null && told[1] === digest && told[2] !== 'nothing found';
}

/** All that it says. */
function simulated(copy, args) {
  const child = spawn(process.execPath, [SIMULATOR, ...args, ...PATIENCE], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => {
    child.on('close', () => {
      resolve(output);
    });
  });
}

const waiting = mutants();
const total = waiting.length;
let found = 0;

async function lane() {
  const copy = copyTree();
  try {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const began = performance.now();
      const undo = plant(copy, name);
      const finding = await search(copy);
      const fails =
        finding === undefined ? 'NOT FOUND' : (await isReplayed(copy, finding)) ? '' : 'NOT REPLAYED, ';
      undo();
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      if (fails === '') found += 1;
      const verdict = `${fails}${finding === undefined ? '' : `seed ${finding.seed}: ${finding.what}`}`;
      console.log(`${name} (${seconds} s): ${verdict}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

await Promise.all(Array.from({ length: Math.min(lanes, total) }, lane));
console.log(`${String(found)} of ${String(total)} planted bugs found within ${String(count)} seeds`);
process.exitCode = found === total && total > 0 ? 0 : 1;
