import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether this system shows what its processes do. */
export const SHOWS_PROCESSES = existsSync('/proc/self/status');

/** A process and all that descend from it. */
export function familyOf(pid: number): number[] {
  const parents = new Map(allPids().map((each) => [each, parentOf(each)]));
  const family = [pid];
  for (const member of family) {
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  }
  return family;
}

/** To all of them; who has gone meanwhile is not missed. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone by itself.
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

/** Not one that has ended and that its parent has not heard of yet. */
export function isThere(pid: number): boolean {
  if (!SHOWS_PROCESSES) return isAlive(pid);
  const state = stateOf(pid);
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Whether somebody has stopped it, by a signal or as its tracer. */
export function isStopped(pid: number): boolean {
  return stateOf(pid)?.toUpperCase() === 'T';
}

/** Of the process that traces it; nought for none. */
export function tracerOf(pid: number): number {
  return Number(statusOf(pid, /^TracerPid:\s+(\d+)$/m) ?? 0);
}

/** A letter, as /proc has it; undefined where there is no such process. */
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
