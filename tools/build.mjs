/**
 * Compiles to dist/, which mirrors the tree; `--if-stale` skips a fresh build. Files are compiled to
 * dist.next/ and moved one by one, so that a process starting from dist/ never reads half a file.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { underLock } from './build/lock.mjs';
import { DIST, filesUnder, fingerprint, ROOT } from './build/tree.mjs';

const STAGING = join(ROOT, 'dist.next');
const STAMP = join(DIST, '.build-stamp');
const LOCK = join(ROOT, 'node_modules/.cache/sotto/build.lock');
const NEST = join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');

function isFresh(wanted) {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted;
}

function compile() {
  rmSync(STAGING, { recursive: true, force: true });
  const run = spawnSync(process.execPath, [NEST, 'build', '--path', 'tools/build/tsconfig.staging.json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (run.status !== 0) {
    process.stderr.write(`${run.stdout}${run.stderr}`);
    throw new Error('the compiler found faults, see above');
  }
}

function sameContent(left, right) {
  return existsSync(right) && readFileSync(left).equals(readFileSync(right));
}

function moveIntoPlace() {
  const built = filesUnder(STAGING);
  for (const path of built) {
    if (sameContent(join(STAGING, path), join(DIST, path))) continue;
    mkdirSync(dirname(join(DIST, path)), { recursive: true });
    renameSync(join(STAGING, path), join(DIST, path));
  }
  const wanted = new Set(built);
  for (const path of filesUnder(DIST)) {
    // Files that processes keep in dist/ may disappear by themselves.
    if (!wanted.has(path)) rmSync(join(DIST, path), { force: true });
  }
  rmSync(STAGING, { recursive: true, force: true });
}

async function build(onlyIfStale) {
  if (onlyIfStale && isFresh(fingerprint())) return;
  await underLock(LOCK, () => {
    const wanted = fingerprint();
    if (onlyIfStale && isFresh(wanted)) return;
    mkdirSync(DIST, { recursive: true });
    rmSync(STAMP, { force: true });
    compile();
    moveIntoPlace();
    writeFileSync(STAMP, wanted);
  });
}

try {
  await build(process.argv.includes('--if-stale'));
} catch (error) {
  console.error(`build: ${error.message}`);
  process.exitCode = 1;
}
