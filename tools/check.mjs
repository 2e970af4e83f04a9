/** Runs every `check:*` script of package.json, two at a time, and prints the output of those that fail. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from './build/tree.mjs';

const AT_ONCE = 2;
/** The slowest start first, to use both cores. */
const FIRST = ['check:lint', 'check:types'];

function allChecks() {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'));
  const found = Object.keys(scripts).filter((name) => name.startsWith('check:'));
  return [...FIRST, ...found.filter((name) => !FIRST.includes(name))];
}

function run(name) {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', name], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
      const text = Buffer.concat(output).toString().trim();
      if (text !== '' && (code !== 0 || name === 'check:house')) console.log(text);
      resolve(code === 0);
    });
  });
}

const waiting = allChecks();
let failed = 0;

async function lane() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await run(name))) failed += 1;
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, lane));
console.log(failed === 0 ? 'all checks passed' : `${String(failed)} checks failed`);
process.exitCode = failed === 0 ? 0 : 1;
