import { setTimeout as sleep } from 'node:timers/promises';
import { isStopped, isThere, signalAll } from '../installation/families.js';

const LOOK_EVERY_MS = 20;
/** Longer than a process spends in system calls that no signal interrupts. */
const STOPS_WITHIN_MS = 3_000;
const GONE_WITHIN_MS = 30_000;

/** The pid of the process to strike; fails if it does not exist. */
export function mustBeThere(pid: number | undefined): number {
  if (pid === undefined || !isThere(pid)) throw new Error(`process ${pid ?? '(none)'} is not there`);
  return pid;
}

/** Stops processes for this long; the first of them must exist. */
export async function paused(pids: readonly number[], millis: number): Promise<void> {
  await whileStopped(pids, () => sleep(millis));
}

/** Runs an action while the processes are seen to be stopped; the first of them must exist. */
export async function whileStopped<Result>(
  pids: readonly number[],
  work: () => Promise<Result>,
): Promise<Result> {
  const first = mustBeThere(pids[0]);
  signalAll(pids, 'SIGSTOP');
  try {
    const doStand = (): boolean => pids.every((pid) => isStopped(pid) || !isThere(pid));
    await until(doStand, STOPS_WITHIN_MS, () => `process ${first} does not stop`);
    mustBeThere(first);
    return await work();
  } finally {
    signalAll(pids, 'SIGCONT');
  }
}

export function untilGone(pid: number): Promise<void> {
  return until(
    () => !isThere(pid),
    GONE_WITHIN_MS,
    () => `process ${pid} is still there`,
  );
}

/** Rejects with this reason if the condition is not met in time. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  withinMs: number,
  wrong: () => string,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(wrong());
    await sleep(LOOK_EVERY_MS);
  }
}
