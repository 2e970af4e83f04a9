import { spawn } from 'node:child_process';
import { markerText, type ClusterMarker } from './marker.js';

const PATIENCE_S = 8;

/**
 * Waits on a pipe from us. A line means that we ended in order; the end of the pipe without one means that we were killed:
 * then every process of this run has some seconds to notice by itself, and what is left (stuck, or stopped by a
 * signal) is killed. The cluster file must not go on saying that all is well: where it cannot be written, it goes.
 */
const SCRIPT = `
read -r line && exit 0
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

export interface Undertaker {
  dismiss(): void;
}

/** Only Linux shows environments; elsewhere the processes' own watch on their launcher has to do. */
export function hireUndertaker(marker: ClusterMarker, clusterFile: string): Undertaker {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sotto-undertaker', markerText(marker), clusterFile], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return { dismiss: () => void shell.stdin.end('done\n') };
}
