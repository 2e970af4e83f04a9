import { type ClusterMarker, markerText, processesOf } from './marker.js';
import { signal } from '../embedded-postgres/leftover.js';
import { type Clock, pause } from '../time/clock.js';
import { spawn } from 'node:child_process';

const PATIENCE_S = 8;

/**
 * If we are killed, every process of this run has some seconds to notice by itself; then those that are stuck or stopped by a signal
 * are killed. The cluster file must not keep saying that all is well: if it cannot be written, it is deleted.
 */
const SCRIPT = `
marker=$1
if [ -f "$2" ]; then
  sed 's/"ready": true/"ready": false/' "$2" > "$2.over" && mv "$2.over" "$2" || rm -f "$2" "$2.over"
fi
left() { grep -lsaF "$marker" /proc/[0-9]*/environ; }
for second in $(seq ${PATIENCE_S}); do
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

/** Only Linux shows environments; elsewhere the processes watch their launcher themselves. */
export function startOrphanReaper(marker: ClusterMarker, clusterFile: string): OrphanReaper {
  return { dismiss: startWatcher('sotto-orphan-reaper', SCRIPT, [markerText(marker), clusterFile]) };
}

const POLL_MS = 50;

/**
 * Ends the processes of an earlier launcher. The caller holds the folder's lock, so they have no launcher any more and are stopping
 * by themselves; this only limits their time to `patienceMs`.
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

/** A line means that nothing is to be done; the end of the pipe without one means that we were killed. */
const WAIT = 'read -r line && exit 0\n';

/**
 * A shell that waits on a pipe from us and runs `script` if we are killed. It does not die with us: it leads its own group and holds
 * no folder. Returns what to call when it is no longer needed.
 */
export function startWatcher(name: string, script: string, args: readonly string[]): () => void {
  const shell = spawn('/bin/sh', ['-c', WAIT + script, name, ...args], {
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
