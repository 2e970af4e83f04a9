import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROCESSES } from '#libs/platform/processes/catalogue.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import type { LauncherConfig } from './config.js';
import type { TradingPlaces } from './processes.js';

/** The longest path that a Unix socket may have on all systems. */
const MOST_SOCKET_PATH = 100;

/** Kinds whose internal listeners others call, with as many ports as they have processes. */
export async function pickInternalPorts(
  { CELLS, SERVICES }: Pick<LauncherConfig, 'CELLS' | 'SERVICES'>,
  avoid: readonly number[],
): Promise<Record<string, number[]>> {
  const called = PROCESSES.filter(
    ({ name, services }) =>
      ['owner', 'cell', 'executor'].includes(name) && services.some((service) => SERVICES.includes(service)),
  );
  const counts = called.map(({ name, replicas }): [string, number] => [
    name,
    name === 'cell' ? CELLS : replicas.local,
  ]);
  const ports = await pickPorts(
    counts.reduce((sum, [, count]) => sum + count, 0),
    avoid,
  );
  return Object.fromEntries(counts.map(([name, count]) => [name, ports.splice(0, count)]));
}

/** Ports that were picked are taken by no other picker, so nothing else of the cluster gets them. */
export async function pickTrading(dataFolder: string, avoid: readonly number[]): Promise<TradingPlaces> {
  const [adminPort = 0, venueBPort = 0, venueEPort = 0] = await pickPorts(3, avoid);
  const practiceFolder = path.join(dataFolder, 'practice');
  return { signerSocket: signerSocketIn(dataFolder), practiceFolder, adminPort, venueBPort, venueEPort };
}

/** In the data folder; where its path is too long for a socket, in the folder for temporary files. */
function signerSocketIn(dataFolder: string): string {
  const inFolder = path.join(dataFolder, 'signer.sock');
  if (inFolder.length <= MOST_SOCKET_PATH) return inFolder;
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  return path.join(tmpdir(), `sotto-signer-${name}.sock`);
}
