import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { sharesOf, type CpuProfile, type Shares } from './shares.js';

const SMALLEST_SHARE = 0.01;
const ENDING = '.cpuprofile';

/** A line for each process with a profile in the folder, the busiest first. */
export async function linesOfProfiles(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(ENDING));
  const all: Shares[] = [];
  for (const file of files) {
    all.push(sharesOf(JSON.parse(await readFile(path.join(folder, file), 'utf8')) as CpuProfile));
  }
  return all
    .filter(({ program }) => program !== undefined)
    .sort((one, other) => other.busyMicros - one.busyMicros)
    .map(lineOf);
}

function lineOf({ program = '', busyMicros, parts }: Shares): string {
  const shown = parts
    .filter(([, share]) => share >= SMALLEST_SHARE)
    .map(([area, share]) => `${area} ${Math.round(share * 100)} %`);
  return `${program}: ${Math.round(busyMicros / 1_000)} ms: ${shown.join(', ')}`;
}
