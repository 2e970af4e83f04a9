import { spawn } from 'node:child_process';

/**
 * Waits on a pipe from us. A line means that the broker has ended; the end of the pipe without one means that we were killed: then the
 * broker is asked to stop, and killed if it does not in time.
 */
const SCRIPT = `
read -r line && exit 0
kill -TERM "$1"
for second in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 "$1" || exit 0
  sleep 1
done
kill -KILL "$1"
`;

/** No broker outlives the process that started it, however that ends. Returns what to call once the broker is gone. */
export function keepBroker(pid: number): () => void {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sotto-kafka-keeper', String(pid)], {
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
