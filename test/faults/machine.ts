import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const LIBRARIES = '/usr/lib';
const FAKETIME = 'faketime/libfaketimeMT.so.1';

/** What this machine and user can do. */
export interface MachineAbilities {
  /** The library that shows a process another time. */
  readonly fakedTime: string | undefined;
  /** Whether small file systems can be mounted, which only root may do. */
  readonly mayMount: boolean;
  /** Whether system calls of other processes can be delayed. */
  readonly mayTrace: boolean;
}

export function lookAtMachine(): MachineAbilities {
  return { fakedTime: fakedTime(), mayMount: mayMount(), mayTrace: mayTrace() };
}

export function fakedTime(): string | undefined {
  if (!existsSync(LIBRARIES)) return undefined;
  const folders = [LIBRARIES, ...readdirSync(LIBRARIES).map((name) => path.join(LIBRARIES, name))];
  return folders.map((folder) => path.join(folder, FAKETIME)).find((file) => existsSync(file));
}

function mayMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(path.join(tmpdir(), 'sotto-mount-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0;
  if (mounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
  return mounted;
}

function mayTrace(): boolean {
  const wanted = ['-f', '-e', 'trace=fsync', '-e', 'inject=fsync:delay_enter=1', '-o', '/dev/null', 'true'];
  return spawnSync('strace', wanted).status === 0;
}
