import { randomBytes } from 'node:crypto';

import { readFile, readdir, stat } from 'node:fs/promises';

const VARIABLE = 'SOTTO_CLUSTER';

/** Set in the environment of every process of a cluster. `folder` identifies the data folder, and `run` the start. */
export interface ClusterMarker {
  readonly folder: string;
  readonly run: string;
}

/** Identifies the folder by device and inode, so that the path does not matter. */
export async function markerOf(dataFolder: string): Promise<ClusterMarker> {
  const { dev, ino } = await stat(dataFolder, { bigint: true });
  return { folder: `${dev.toString(16)}-${ino.toString(16)}`, run: randomBytes(8).toString('hex') };
}

export function markerText(marker: ClusterMarker): string {
  return `${VARIABLE}=${marker.folder}.${marker.run}`;
}

export function markerEnvironment(marker: ClusterMarker): Record<string, string> {
  return { [VARIABLE]: `${marker.folder}.${marker.run}` };
}

/** Finds processes of any run on this folder. None if the system does not show environments. */
export async function processesOf(marker: ClusterMarker): Promise<number[]> {
  const prefix = `${VARIABLE}=${marker.folder}.`;
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')),
  );
  return names
    .filter((_, index) => environments[index]?.split('\0').some((entry) => entry.startsWith(prefix)) === true)
    .map(Number)
    .filter((pid) => pid !== process.pid);
}
