import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import TestRunner from 'jest-runner';
import { ROOT } from '../build/tree.mjs';
import { isOfFullTier, TIER } from '../tests/tiers.mjs';

const SPECS = join(ROOT, 'test/e2e');
const RECORDINGS = join(ROOT, 'node_modules/.cache/sotto/exchanges');
/** What the latest whole run of this tier has kept. The examples of the documents are made from that of the full one. */
const LATEST = join(RECORDINGS, process.env[TIER] === 'full' ? 'latest' : 'latest-change');
/** What takes the machine apart or counts its milliseconds. */
const ALONE = /\.(alone|kafka)(\.full)?\.spec\.ts$/;
/** What looks back at everything that the others have seen. */
const LAST = /\.last\.spec\.ts$/;
const SERIAL = { serial: true };

/**
 * For tests that start whole clusters or brokers. They wait more than they work, so some run side by side, and then those that
 * want the machine to themselves. What they say to the service and hear from it is kept for the files that run last; that of
 * the latest full run stays.
 */
export default class OutsideRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    // A second look adds to what the full run before it has kept.
    if (process.env.SECOND_LOOK !== undefined) {
      // A run of parts has kept nothing.
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

  /** Only then can be said that nothing has shown something. */
  #isFull(tests) {
    const asked = new Set(tests.map(({ path }) => path));
    const ofTier = (path) =>
      path.endsWith('.spec.ts') && (process.env[TIER] === 'full' || !isOfFullTier(path));
    const all = readdirSync(SPECS, { recursive: true }).filter(ofTier);
    return !this._globalConfig.testNamePattern && all.every((path) => asked.has(join(SPECS, path)));
  }
}

/** Runs that were killed have left theirs behind. */
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
