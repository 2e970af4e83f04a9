import { spawn } from 'node:child_process';

/** A line means that all is over and nothing is to be done; the end of the pipe without one means that we were killed. */
const WAIT = 'read -r line && exit 0\n';

/**
 * A shell that waits on a pipe from us and does what `script` says when we were killed. It is no child that dies with us: it leads
 * its own group and holds no folder. Returns what to call when it is not needed any more.
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
