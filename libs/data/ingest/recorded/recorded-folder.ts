import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isCodedError } from '#libs/platform/process/start-fault.js';

export interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly stats: Stats;
}

const ENDING = '.ndjson';
/** How many files are checked at once. */
const AT_ONCE = 64;

/** Recorded files in byte order of their names; none if the folder does not exist yet. */
export async function recordedFilesIn(folder: string): Promise<FoundFile[]> {
  const listed = await readdir(folder).catch(unlessAbsent);
  const names = (listed ?? [])
    .filter((name) => name.endsWith(ENDING))
    .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  const found: FoundFile[] = [];
  for (let from = 0; from < names.length; from += AT_ONCE) {
    const checked = names.slice(from, from + AT_ONCE).map((name) => foundAt(folder, name));
    for (const file of await Promise.all(checked)) if (file !== undefined) found.push(file);
  }
  return found;
}

async function foundAt(folder: string, name: string): Promise<FoundFile | undefined> {
  const file = path.join(folder, name);
  const stats = await stat(file).catch(unlessAbsent);
  return stats?.isFile() === true ? { name, path: file, stats } : undefined;
}

/** A file that was deleted meanwhile is no failure. */
export function unlessAbsent(error: unknown): undefined {
  if (isCodedError(error) && error.code === 'ENOENT') return undefined;
  throw error;
}
