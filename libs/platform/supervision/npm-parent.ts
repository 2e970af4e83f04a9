import { readFileSync } from 'node:fs';
import { repeat, type Clock } from '../time/clock.js';
import type { Environment } from '../settings/config.js';

const POLL_MILLIS = 1_000;
/** What runs the scripts of a package.json, and the shell that it may leave in between, which names the script. */
const RUNNER = /\b(?:npm|pnpm|yarn|bun|node)\b/;

/**
 * A killed npm passes nothing on, but its children get another parent. That may happen before this process first checks: then its
 * parent is not one that runs scripts.
 */
export function handleNpmEnd(script: string, env: Environment, clock: Clock, whenGone: () => void): void {
  if (env.npm_lifecycle_event !== script) return;
  const parent = process.ppid;
  const wasTooLate = !runsScripts(parent);
  repeat(clock, POLL_MILLIS, () => {
    if (wasTooLate || process.ppid !== parent) whenGone();
    return Promise.resolve();
  });
}

function runsScripts(pid: number): boolean {
  try {
    return RUNNER.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    // No such folder on this system. The first process adopts orphans.
    return pid !== 1;
  }
}
