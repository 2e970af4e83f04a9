import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROCESSES } from '#libs/platform/processes/catalogue.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { firstFreePort, pickPorts } from '#libs/platform/supervision/ports.js';
import { fixedPortsOf, type LauncherConfig } from './config.js';
import type { DataPlaces, TradingPlaces } from './processes.js';

/** The longest path that a Unix socket may have on all systems. */
const MAX_SOCKET_PATH = 100;

/** Ports for the kinds of process that others call, one for each process. */
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

/** Picked ports are reserved, so no other process of the cluster gets them. */
export async function pickTrading(dataFolder: string, avoid: readonly number[]): Promise<TradingPlaces> {
  const [adminPort = 0, venueBPort = 0, venueEPort = 0] = await pickPorts(3, avoid);
  const practiceFolder = path.join(dataFolder, 'practice');
  return { signerSocket: signerSocketIn(dataFolder), practiceFolder, adminPort, venueBPort, venueEPort };
}

/** Market data looks for free ports from PORT plus this number on. */
const DATA_PORT_OFFSET = 20;
const ALL_VENUES = ['a', 'b', 'c', 'd', 'e'];
const PRACTICE_VENUES = ['b', 'e'];

interface DataParts {
  readonly config: LauncherConfig;
  readonly dataFolder: string;
  readonly env: Environment;
}

export async function pickData({ config, dataFolder, env }: DataParts): Promise<DataPlaces> {
  const taken = new Set(fixedPortsOf(config));
  const free = async (given: number | undefined): Promise<number> => {
    const found = given ?? (await firstFreePort(config.PORT + DATA_PORT_OFFSET, config.LISTEN_HOST, taken));
    if (found === undefined) throw new StartFault(`there are no free ports above ${config.PORT}: set PORT`);
    taken.add(found);
    return found;
  };
  const dataPort = await free(config.DATA_PORT);
  const mdPort = await free(config.MD_PORT);
  const streamPort = await free(config.STREAM_PORT);
  const [liveReadsPort = 0] = await pickPorts(1, [...taken]);
  const recordedFolder = path.join(dataFolder, 'recorded');
  return { dataPort, mdPort, streamPort, liveReadsPort, recordedFolder, fedVenues: fedVenues(config, env) };
}

/** The venues with a source of data, by DATA_SOURCES or its default. */
function fedVenues({ SERVICES }: LauncherConfig, { DATA_SOURCES: named }: Environment): readonly string[] {
  const sources = named?.split(',').map((name) => name.trim()) ?? ['seed'];
  if (sources.includes('seed')) return ALL_VENUES;
  return sources.includes('practice') && SERVICES.includes('execution') ? PRACTICE_VENUES : [];
}

/** In the data folder, or in the temporary folder if that path is too long for a socket. */
function signerSocketIn(dataFolder: string): string {
  const inFolder = path.join(dataFolder, 'signer.sock');
  if (inFolder.length <= MAX_SOCKET_PATH) return inFolder;
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  return path.join(tmpdir(), `sotto-signer-${name}.sock`);
}
