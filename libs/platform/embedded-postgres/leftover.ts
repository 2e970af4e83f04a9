import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
const FAST_SHUTDOWN_MS = 5_000;

/** Finds the processes of a server by their working folder. Only Linux shows it; elsewhere PostgreSQL's own check must do. */
async function processesIn(folder: string): Promise<number[]> {
  const wanted = await realpath(folder).catch(() => folder);
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const workingFolders = await Promise.all(
    pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)),
  );
  return pids.filter((pid, index) => workingFolders[index] === wanted && pid !== process.pid);
}

async function waitUntilGone(folder: string, millis: number): Promise<boolean> {
  for (let waited = 0; waited <= millis; waited += POLL_MS) {
    if ((await processesIn(folder)).length === 0) return true;
    await sleep(POLL_MS);
  }
  return false;
}

export async function readPostmasterPid(data: string): Promise<number | undefined> {
  const text = await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

/**
 * Ends processes of an earlier run in this data folder. The caller holds the folder's lock, so no other program is using them.
 * Backends of a killed postmaster end by themselves, and no new server may start before the last one has ended.
 */
export async function endLeftoverServer(data: string): Promise<void> {
  const found = await processesIn(data);
  if (found.length === 0) return;
  const postmaster = await readPostmasterPid(data);
  if (postmaster !== undefined && found.includes(postmaster)) signal(postmaster, 'SIGINT');
  if (await waitUntilGone(data, FAST_SHUTDOWN_MS)) return;
  for (const pid of await processesIn(data)) signal(pid, 'SIGKILL');
  await waitUntilGone(data, FAST_SHUTDOWN_MS);
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone.
  }
}
