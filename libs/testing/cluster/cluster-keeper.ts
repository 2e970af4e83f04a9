/**
 * Started beside a cluster by the tests: `cluster-keeper.js <launcher pid> <what to remove>...`. Its input ends when the tests
 * end, however they end; then it stops the launcher and removes what is left.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const STOP_WITHIN_MS = 12_000;
const LOOK_EVERY_MS = 50;

const [launcher = '', ...leftovers] = process.argv.slice(2);
const pid = Number(launcher);
// Ctrl-C reaches the whole terminal group; the tests decide when it is over.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

process.stdin.resume();
process.stdin.once('close', () => void endCluster());

async function endCluster(): Promise<void> {
  const deadline = performance.now() + STOP_WITHIN_MS;
  if (isAlive()) process.kill(pid, 'SIGTERM');
  while (isAlive() && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
  if (isAlive()) process.kill(pid, 'SIGKILL');
  for (const leftover of leftovers) await rm(leftover, { recursive: true, force: true });
}

function isAlive(): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
