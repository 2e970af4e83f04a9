import { setTimeout as sleep } from 'node:timers/promises';
import { isStopped, isThere, signalAll } from '../installation/families.js';

const LOOK_EVERY_MS = 20;
/** Longer than whatever a process may be in the middle of that no signal interrupts. */
const STOPS_WITHIN_MS = 3_000;
const GONE_WITHIN_MS = 30_000;

/** The process that is to be struck, provided that there is one. */
export function mustBeThere(pid: number | undefined): number {
  if (pid === undefined || !isThere(pid)) throw new Error(`process ${pid ?? '(none)'} is not there`);
  return pid;
}

/** Stops processes, of which the first has to be there, for that long. */
export async function paused(pids: readonly number[], millis: number): Promise<void> {
  await whileStopped(pids, () => sleep(millis));
}

/** Does something while processes, of which the first has to be there, are seen to stand still. */
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

/** Rejects with what is wrong where it does not come true in time. */
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
