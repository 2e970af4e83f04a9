import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether this system shows its processes in /proc. */
export const SHOWS_PROCESSES = existsSync('/proc/self/status');

/** A process and all its descendants. */
export function familyOf(pid: number): number[] {
  const parents = new Map(allPids().map((each) => [each, parentOf(each)]));
  const family = [pid];
  for (const member of family) {
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  }
  return family;
}

/** Sends the signal to all; processes that have ended are skipped. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended already.
    }
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** False for a process that has ended although its parent has not collected it. */
export function isThere(pid: number): boolean {
  if (!SHOWS_PROCESSES) return isAlive(pid);
  const state = stateOf(pid);
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Whether a signal or a tracer has stopped the process. */
export function isStopped(pid: number): boolean {
  return stateOf(pid)?.toUpperCase() === 'T';
}

/** The pid of its tracer; 0 for none. */
export function tracerOf(pid: number): number {
  return Number(statusOf(pid, /^TracerPid:\s+(\d+)$/m) ?? 0);
}

/** The state letter from /proc; undefined if there is no such process. */
function stateOf(pid: number): string | undefined {
  return statusOf(pid, /^State:\s+(\w)/m);
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function parentOf(pid: number): number {
  return Number(statusOf(pid, /^PPid:\s+(\d+)$/m) ?? 0);
}

function statusOf(pid: number, field: RegExp): string | undefined {
  try {
    return field.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
