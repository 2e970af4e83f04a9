import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '#libs/platform/clock.js';
import type { Environment } from '#libs/platform/config.js';
import { lockFolder } from '#libs/platform/folder-lock.js';
import { whyNotListen } from '#libs/platform/ports.js';
import { asStartFault, EXIT, StartFault } from '#libs/platform/start-fault.js';
import { endLeftovers } from '#libs/platform/supervision/leftovers.js';
import { markerOf, type ClusterMarker } from '#libs/platform/supervision/marker.js';
import { hireUndertaker } from '#libs/platform/supervision/undertaker.js';
import { Cluster, type ClusterParts, type ClusterPlace } from './cluster.js';
import { clusterFilePath, forgetCluster } from './cluster-file.js';
import { loadLauncherConfig, portsOf, type LauncherConfig } from './config.js';
import { StopRequest } from './stop-request.js';
import { Terminal } from './terminal.js';
import { welcome } from './welcome.js';

/** After this a stop stops being polite, and after the second it does not even wait; the whole is promised in ten seconds. */
const STOP_WITHIN_MS = 8_000;
const LEAVE_WITHIN_MS = 9_500;
const LEFTOVER_PATIENCE_MS = 3_000;

/** Runs a whole cluster until it is told to stop; resolves with the exit code. */
export async function launch(env: Environment, parts: ClusterParts, clock: Clock): Promise<number> {
  const terminal = new Terminal(clock);
  const request = new StopRequest(clock);
  try {
    const config = loadLauncherConfig(env);
    const dataFolder = path.resolve(config.DATA_DIR);
    await mkdir(dataFolder, { recursive: true, mode: 0o711 });
    const marker = await markerOf(dataFolder);
    const lock = await lockFolder(marker.folder, `process ${process.pid}, port ${config.PORT}`);
    if ('heldBy' in lock) {
      throw new StartFault(
        `${dataFolder} is in use by another start (${lock.heldBy}): stop that or set DATA_DIR`,
      );
    }
    await clearTheWay(config, dataFolder, marker, terminal, clock);
    const undertaker = hireUndertaker(marker, clusterFilePath(dataFolder));
    const code = await runCluster({ config, dataFolder, env, marker, clock, terminal }, parts, request);
    undertaker.dismiss();
    await lock.lock.release();
    return code;
  } catch (error) {
    return explain(error, terminal);
  }
}

/** Everything that can forbid a start is looked at before the first process is started. */
async function clearTheWay(
  config: LauncherConfig,
  dataFolder: string,
  marker: ClusterMarker,
  terminal: Terminal,
  clock: Clock,
): Promise<void> {
  forgetCluster(dataFolder);
  const ended = await endLeftovers(marker, clock, LEFTOVER_PATIENCE_MS);
  if (ended > 0) terminal.step('what a killed launcher had left behind is gone');
  for (const port of portsOf(config)) {
    const error = await whyNotListen(port, config.LISTEN_HOST);
    if (error === undefined) continue;
    throw new StartFault(`${asStartFault(error)?.message ?? error.message}: set PORT to a free one`);
  }
}

async function runCluster(place: ClusterPlace, parts: ClusterParts, request: StopRequest): Promise<number> {
  const { terminal, dataFolder } = place;
  const cluster = new Cluster(place, parts);
  let code = 0;
  try {
    const running = await Promise.race([cluster.start(), request.first]);
    if (running !== undefined) {
      terminal.step('ready');
      terminal.print(welcome(running, dataFolder));
    }
    await request.first;
    terminal.print('');
    terminal.step('stopping');
  } catch (error) {
    code = explain(error, terminal);
  }
  await stopInTime(cluster, place, request);
  terminal.step('everything has stopped');
  return code;
}

async function stopInTime(
  cluster: Cluster,
  { clock, terminal }: ClusterPlace,
  request: StopRequest,
): Promise<void> {
  const hurry = (): void => cluster.kill();
  const cancelHurry = clock.after(STOP_WITHIN_MS, hurry);
  const cancelLeave = clock.after(LEAVE_WITHIN_MS, () => {
    terminal.problem('not everything stopped in time, what is left ends by itself');
    process.exit(EXIT.unavailable);
  });
  void request.second.then(hurry);
  await cluster.stop();
  cancelHurry();
  cancelLeave();
}

function explain(error: unknown, terminal: Terminal): number {
  const fault = asStartFault(error);
  if (fault !== undefined) {
    for (const line of fault.message.split('\n')) terminal.problem(line);
    return fault.exitCode;
  }
  terminal.problem(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.bug;
}
