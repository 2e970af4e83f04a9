import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import TestRunner from 'jest-runner';
import { ROOT } from '../build/tree.mjs';
import { isOfFullTier, TIER } from '../tests/tiers.mjs';

const SPECS = join(ROOT, 'test/e2e');
const RECORDINGS = join(ROOT, 'node_modules/.cache/sotto/exchanges');
/**
 * The exchanges recorded by the latest complete run of this tier. The examples in the documents come from the
 * full tier.
 */
const LATEST = join(RECORDINGS, process.env[TIER] === 'full' ? 'latest' : 'latest-change');
/** Tests that break parts of the machine or measure milliseconds. */
const ALONE = /\.(alone|kafka)(\.full)?\.spec\.ts$/;
/** Tests that check what all others recorded. */
const LAST = /\.last\.spec\.ts$/;
const SERIAL = { serial: true };

/**
 * For tests that start clusters or brokers. They mostly wait, so some run in parallel; those that need the
 * machine alone run after them. Recorded exchanges are kept for the files that run last; those of the latest
 * full run stay.
 */
export default class OutsideRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    // A repeated run adds to the recordings of the full run before it.
    if (process.env.SECOND_LOOK !== undefined) {
      // A partial run has kept no recordings.
      mkdirSync(LATEST, { recursive: true });
      return this.#inTurn(tests, watcher, options, LATEST, true);
    }
    const folder = join(RECORDINGS, `run-${String(process.pid)}`);
    mkdirSync(folder, { recursive: true });
    dropAbandoned();
    const isFull = this.#isFull(tests);
    try {
      await this.#inTurn(tests, watcher, options, folder, isFull);
    } finally {
      if (isFull) rmSync(LATEST, { recursive: true, force: true });
      if (isFull && existsSync(folder)) renameSync(folder, LATEST);
      else rmSync(folder, { recursive: true, force: true });
    }
  }

  async #inTurn(tests, watcher, options, folder, isFull) {
    process.env.EXCHANGES_DIR = folder;
    process.env.E2E_RUN = isFull ? 'full' : 'partial';
    const of = (turn) => tests.filter((test) => turnOf(test) === turn);
    await super.runTests(of('beside'), watcher, options);
    await super.runTests(of('alone'), watcher, SERIAL);
    await super.runTests(of('last'), watcher, SERIAL);
  }

  /** Only a full run can prove that something never appeared. */
  #isFull(tests) {
    const asked = new Set(tests.map(({ path }) => path));
    const ofTier = (path) =>
      path.endsWith('.spec.ts') && (process.env[TIER] === 'full' || !isOfFullTier(path));
    const all = readdirSync(SPECS, { recursive: true }).filter(ofTier);
    return !this._globalConfig.testNamePattern && all.every((path) => asked.has(join(SPECS, path)));
  }
}

/** Removes the recordings of killed runs. */
function dropAbandoned() {
  for (const name of readdirSync(RECORDINGS)) {
    const pid = /^run-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(RECORDINGS, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function turnOf({ path }) {
  if (LAST.test(path)) return 'last';
  return ALONE.test(path) ? 'alone' : 'beside';
}
