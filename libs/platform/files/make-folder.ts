import path from 'node:path';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

/**
 * Creates a folder and its missing parents. Node's recursive mkdir would retry forever in a folder that accepts no new ones (such
 * as /proc), so each level is created by a separate call here.
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let current = folder; !(await isThere(current)); current = path.dirname(current))
    missing.unshift(current);
  for (const current of missing) await makeOne(current, mode);
}

async function isThere(current: string): Promise<boolean> {
  try {
    await stat(current);
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

/** Undefined if there is no such file. Throws for an unreadable file, which is not missing. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isCodedError(error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    // A folder can be opened, so this error of reading it has no path.
    if (error.code === 'EISDIR') throw new StartFault(`cannot use ${file}: it is a folder`, EXIT.damaged);
    throw error;
  }
}
