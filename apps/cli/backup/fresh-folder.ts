import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '#libs/platform/files/make-folder.js';
import { isCodedError, StartFault } from '#libs/platform/process/start-fault.js';

const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR']);

/**
 * Makes a folder that appears once it is complete. Each call fills a folder of its own, then renames it, so
 * overlapping calls, also of other machines, cannot touch each other's files. The first to finish gets the
 * name.
 */
export async function fillFolder<T>(
  wanted: string,
  log: (line: string) => void,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  const target = path.resolve(wanted);
  await makeFolder(path.dirname(target), 0o755);
  await refuseExisting(target);
  await logLeftovers(target, log);
  const own = await makeOwnFolder(target);
  try {
    const filled = await fill(own);
    await renameTo(own, target);
    return filled;
  } catch (error) {
    // Report the first error. A full disk may also refuse the removal.
    await rm(own, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

async function makeOwnFolder(target: string): Promise<string> {
  try {
    return await mkdtemp(`${target}.partial-`);
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'ENOENT') throw error;
    throw new StartFault(`cannot make ${target}: its parent takes no folders`);
  }
}

async function refuseExisting(target: string): Promise<void> {
  try {
    await lstat(target);
  } catch (error) {
    if (isCodedError(error) && error.code === 'ENOENT') return;
    throw error;
  }
  throw existsAlready(target);
}

async function renameTo(own: string, target: string): Promise<void> {
  try {
    await rename(own, target);
  } catch (error) {
    throw isCodedError(error) && TAKEN.has(error.code) ? existsAlready(target) : error;
  }
}

function existsAlready(target: string): StartFault {
  return new StartFault(`${target} exists already: a backup is never written over another`);
}

/** Folders of calls that were killed or still run: machines that share a disk cannot log which. */
async function logLeftovers(target: string, log: (line: string) => void): Promise<void> {
  const begins = `${path.basename(target)}.partial`;
  for (const name of await readdir(path.dirname(target))) {
    if (!name.startsWith(begins)) continue;
    log(
      `${path.join(path.dirname(target), name)} belongs to another call: delete it, unless that call still runs`,
    );
  }
}
