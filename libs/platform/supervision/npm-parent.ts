import { readFileSync } from 'node:fs';
import { repeat, type Clock } from '../time/clock.js';
import type { Environment } from '../settings/config.js';

const POLL_MILLIS = 1_000;
/** Matches the command line of a program that runs package scripts, or of the shell between it and us. */
const RUNNER = /\b(?:npm|pnpm|yarn|bun|node)\b/;

/**
 * Calls `whenGone` when npm has ended. A killed npm sends no signal, but its children get another parent. If that happened before
 * the first check, the parent is no program that runs scripts.
 */
export function handleNpmEnd(script: string, env: Environment, clock: Clock, whenGone: () => void): void {
  if (env.npm_lifecycle_event !== script) return;
  const parent = process.ppid;
  const hasLostParent = !runsScripts(parent);
  repeat(clock, POLL_MILLIS, () => {
    if (hasLostParent || process.ppid !== parent) whenGone();
    return Promise.resolve();
  });
}

function runsScripts(pid: number): boolean {
  try {
    return RUNNER.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    // This system has no /proc. Orphans are adopted by process 1.
    return pid !== 1;
  }
}
