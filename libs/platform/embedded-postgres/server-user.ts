import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { StartFault } from '../process/start-fault.js';

/** The user that the server runs as. Undefined means the user of this process. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. The second name exists on every machine, so no account has to be added. */
const CANDIDATES = ['postgres', 'nobody'];

export async function chooseServerUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const name of CANDIDATES) {
    const fields = passwd
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':');
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new StartFault(
    `PostgreSQL does not run as root and this machine has no user called ${CANDIDATES.join(' or ')}: ` +
      'start as a plain user, or set DATABASE_URL',
  );
}

/** Tries to enter the folder, because mode bits do not show access lists and mount options. */
export function mayEnter(user: ServerUser | undefined, folder: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}
