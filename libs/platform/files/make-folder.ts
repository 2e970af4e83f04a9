import path from 'node:path';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

/**
 * Creates a folder and its missing parents. Node's own recursive mkdir retries for ever in an existing folder that accepts no new
 * ones (such as /proc), so each step is one call here, and the first that fails ends it.
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let place = folder; !(await isThere(place)); place = path.dirname(place)) missing.unshift(place);
  for (const place of missing) await makeOne(place, mode);
}

async function isThere(place: string): Promise<boolean> {
  try {
    await stat(place);
    return true;
  } catch (error) {
    if (isCodedError(error) && error.code === 'ENOENT') return false;
    throw error;
  }
}

async function makeOne(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    const code = isCodedError(error) ? error.code : undefined;
    if (code === 'EEXIST' && (await isThere(folder))) return;
    if (code === 'EEXIST')
      throw new StartFault(`cannot make ${folder}: it is not a folder, but a link to nowhere`);
    if (code === 'ENOENT') throw new StartFault(`cannot make ${folder}: its parent takes no folders`);
    throw error;
  }
}

/** Undefined if there is no such file. An unreadable file is not missing: recreating it would destroy it. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isCodedError(error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    // The only read error without a path: a folder can be opened.
    if (error.code === 'EISDIR') throw new StartFault(`cannot use ${file}: it is a folder`, EXIT.damaged);
    throw error;
  }
}
