/** Runs a compiled program after a fresh build: `node tools/run.mjs apps/demo/main.js ...arguments`. */
import './build/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DIST, ROOT } from './build/tree.mjs';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  console.error('usage: node tools/run.mjs <path below dist> [arguments]');
  process.exit(64);
}

const build = spawnSync(process.execPath, ['tools/build.mjs', '--if-stale'], { cwd: ROOT, stdio: 'inherit' });
if (build.status !== 0) process.exit(build.status ?? 1);

const path = join(DIST, program);
process.argv = [process.execPath, path, ...args];
await import(pathToFileURL(path).href);
