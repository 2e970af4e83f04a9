import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '#libs/platform/files/make-folder.js';
import { isCodedError, StartFault } from '#libs/platform/process/start-fault.js';

const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR']);

/**
 * A folder that appears when it is whole. Each call fills one of its own beside it, so calls that overlap, also of other machines, cannot
 * get into each other's files: the first that is done has the name, and nobody else's is touched.
 */
export async function fillFolder<T>(
  wanted: string,
  tell: (line: string) => void,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  const place = path.resolve(wanted);
  await makeFolder(path.dirname(place), 0o755);
  await refuseExisting(place);
  await tellLeftovers(place, tell);
  const own = await ownBeside(place);
  try {
    const filled = await fill(own);
    await takeName(own, place);
    return filled;
  } catch (error) {
    // What ended the work is to be told, not that the disk which ended it does not let go either.
    await rm(own, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

async function ownBeside(place: string): Promise<string> {
  try {
    return await mkdtemp(`${place}.partial-`);
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'ENOENT') throw error;
    throw new StartFault(`cannot make ${place}: its parent takes no folders`);
  }
}

async function refuseExisting(place: string): Promise<void> {
  try {
    await lstat(place);
  } catch (error) {
    if (isCodedError(error) && error.code === 'ENOENT') return;
    throw error;
  }
  throw existsAlready(place);
}

async function takeName(own: string, place: string): Promise<void> {
  try {
    await rename(own, place);
  } catch (error) {
    throw isCodedError(error) && TAKEN.has(error.code) ? existsAlready(place) : error;
  }
}

function existsAlready(place: string): StartFault {
  return new StartFault(`${place} exists already: a backup is never written over another`);
}

/** Of calls that were killed, or that are at work: the two cannot be told apart where several machines share a disk. */
async function tellLeftovers(place: string, tell: (line: string) => void): Promise<void> {
  const begins = `${path.basename(place)}.partial`;
  for (const name of await readdir(path.dirname(place))) {
    if (!name.startsWith(begins)) continue;
    tell(
      `${path.join(path.dirname(place), name)} is of another call: delete it, unless that is still at work`,
    );
  }
}
