import { type ClusterMarker, markerText, processesOf } from './marker.js';
import { signal } from '../embedded-postgres/leftover.js';
import { type Clock, pause } from '../time/clock.js';
import { spawn } from 'node:child_process';

const GRACE_S = 8;

/**
 * If the launcher is killed, all processes of this run get some seconds to stop by themselves, and are then killed. The cluster
 * file must no longer say that the cluster is ready. If it cannot be written, it is deleted.
 */
const SCRIPT = `
marker=$1
if [ -f "$2" ]; then
  sed 's/"ready": true/"ready": false/' "$2" > "$2.over" && mv "$2.over" "$2" || rm -f "$2" "$2.over"
fi
left() { grep -lsaF "$marker" /proc/[0-9]*/environ; }
for second in $(seq ${GRACE_S}); do
  [ -n "$(left)" ] || exit 0
  sleep 1
done
for file in $(left); do
  pid=\${file#/proc/}
  kill -9 "\${pid%/environ}"
done
`;

export interface OrphanReaper {
  dismiss(): void;
}

/** Works only on Linux, which shows environments. Elsewhere the processes watch the launcher themselves. */
export function startOrphanReaper(marker: ClusterMarker, clusterFile: string): OrphanReaper {
  return { dismiss: startWatcher('sotto-orphan-reaper', SCRIPT, [markerText(marker), clusterFile]) };
}

const POLL_MS = 50;

/**
 * Ends processes of an earlier launcher. The caller holds the folder's lock, so that launcher is gone and they are stopping by
 * themselves. This only limits their time to `patienceMs`.
 */
export async function endLeftovers(marker: ClusterMarker, clock: Clock, patienceMs: number): Promise<number> {
  const found = await processesOf(marker);
  if (found.length === 0) return 0;
  for (let waited = 0; waited < patienceMs; waited += POLL_MS) {
    await pause(clock, POLL_MS);
    if ((await processesOf(marker)).length === 0) return found.length;
  }
  for (const pid of await processesOf(marker)) signal(pid, 'SIGKILL');
  return found.length;
}

/** A line means that there is nothing to do. The end of the pipe without a line means that we were killed. */
const WAIT_FOR_PIPE = 'read -r line && exit 0\n';

/**
 * Starts a shell that runs `script` if this process is killed. The shell survives, because it has a process group of its own.
 * Returns a function that dismisses the shell.
 */
export function startWatcher(name: string, script: string, args: readonly string[]): () => void {
  const shell = spawn('/bin/sh', ['-c', WAIT_FOR_PIPE + script, name, ...args], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return () => void shell.stdin.end('done\n');
}
