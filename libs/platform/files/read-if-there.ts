import { readFile } from 'node:fs/promises';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

/** Undefined where there is no such file. What cannot be read is not missing: making it anew would bury it. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isCodedError(error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    // The one fault of reading that bears no path: a folder can be opened.
    if (error.code === 'EISDIR') throw new StartFault(`cannot use ${file}: it is a folder`, EXIT.damaged);
    throw error;
  }
}
