/**
 * Started by the tests beside a cluster: `cluster-keeper.js <launcher pid> <pid or ''> <files to remove>...`. It waits for the
 * end of that process, or else of its own input, which ends with the tests. Then it stops the launcher and removes the files.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const STOP_WITHIN_MS = 12_000;
const LOOK_EVERY_MS = 50;

const [launcher = '', watched = '', ...leftovers] = process.argv.slice(2);
const pid = Number(launcher);
// Ctrl-C reaches the whole terminal group, but the tests decide when the cluster ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

if (watched === '') {
  process.stdin.resume();
  process.stdin.once('close', () => void endCluster());
} else {
  void endClusterAfter(Number(watched));
}

async function endClusterAfter(tests: number): Promise<void> {
  while (isAlive(tests)) await sleep(LOOK_EVERY_MS);
  await endCluster();
}

async function endCluster(): Promise<void> {
  const deadline = performance.now() + STOP_WITHIN_MS;
  if (isAlive(pid)) process.kill(pid, 'SIGTERM');
  while (isAlive(pid) && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  for (const leftover of leftovers) await rm(leftover, { recursive: true, force: true });
}

function isAlive(other: number): boolean {
  try {
    return process.kill(other, 0);
  } catch {
    return false;
  }
}
