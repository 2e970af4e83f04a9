import { randomBytes } from 'node:crypto';

import { readFile, readdir, stat } from 'node:fs/promises';

const VARIABLE = 'SOTTO_CLUSTER';

/** In the environment of every process of a cluster: `folder` names the data folder, `run` the start. */
export interface ClusterMarker {
  readonly folder: string;
  readonly run: string;
}

/** The folder itself is the identity, by any path. */
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

/** Processes of any run on this folder; none if the system does not show environments. */
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
