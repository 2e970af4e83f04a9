import path from 'node:path';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { asDatabaseFault } from '#libs/platform/database/database-fault.js';
import { whyNotListen } from '#libs/platform/supervision/ports.js';
import {
  asStartFault,
  ConfigFault,
  EXIT,
  isCodedError,
  NO_ADDRESS_OF_OURS,
  StartFault,
} from '#libs/platform/process/start-fault.js';
import { endLeftovers, startOrphanReaper } from '#libs/platform/supervision/orphan-reaper.js';
import { type ClusterParts, type ClusterPlace, LaunchedCluster } from './cluster.js';
import { clusterFilePath, forgetCluster } from './cluster-file.js';
import { fixedPortsOf, type LauncherConfig } from './config.js';
import { type DataFolder, openDataFolder } from './data-folder.js';
import { readSettings } from './settings-check.js';
import { readJournalFiles } from './journals.js';
import { StopRequest } from './stop-request.js';
import { LauncherTerminal } from './terminal.js';
import { welcome } from './welcome.js';

/** After this a stop stops being polite, and after the second it does not even wait; the whole is promised in ten seconds. */
const STOP_WITHIN_MS = 8_000;
const LEAVE_WITHIN_MS = 9_500;
const LEFTOVER_PATIENCE_MS = 3_000;

/** Runs a whole cluster until it is told to stop; resolves with the exit code. */
export async function launch(env: Environment, parts: ClusterParts, clock: Clock): Promise<number> {
  const terminal = new LauncherTerminal(clock);
  const request = new StopRequest(clock);
  request.handleNpmEnd(env);
  try {
    const config = readSettings(env, parts.plan);
    await readJournalFiles(env);
    const ready = await Promise.race([prepare(config, terminal, clock), request.first]);
    if (ready === undefined) return 0;
    const { path: dataFolder, marker, lock } = ready;
    const orphanReaper = startOrphanReaper(marker, clusterFilePath(dataFolder));
    const code = await runCluster({ config, dataFolder, env, marker, clock, terminal }, parts, request);
    orphanReaper.dismiss();
    await lock.release();
    return code;
  } catch (error) {
    return explain(error, terminal);
  }
}

/** Everything that can forbid a start is checked before the first process is started. */
async function prepare(
  config: LauncherConfig,
  terminal: LauncherTerminal,
  clock: Clock,
): Promise<DataFolder> {
  const holder = `process ${process.pid}, port ${config.PORT}`;
  const folder = await openDataFolder(path.resolve(config.DATA_DIR), holder, clock);
  forgetCluster(folder.path);
  const ended = await endLeftovers(folder.marker, clock, LEFTOVER_PATIENCE_MS);
  if (ended > 0) terminal.step('what a killed launcher had left behind is gone');
  await refuseUnlessFree(config);
  return folder;
}

/** The address is a setting, and a port that is taken may be free tomorrow: the exit code tells them apart. */
async function refuseUnlessFree(config: LauncherConfig): Promise<void> {
  const { LISTEN_HOST: host } = config;
  for (const port of fixedPortsOf(config)) {
    const error = await whyNotListen(port, host);
    if (error === undefined) continue;
    if (isCodedError(error) && NO_ADDRESS_OF_OURS.has(error.code)) {
      throw new ConfigFault([
        `LISTEN_HOST=${JSON.stringify(host)} is wrong: it is no address of this machine (${error.code})`,
      ]);
    }
    throw new StartFault(`${asStartFault(error)?.message ?? error.message}: set PORT to a free one`);
  }
}

async function runCluster(place: ClusterPlace, parts: ClusterParts, request: StopRequest): Promise<number> {
  const { terminal, dataFolder } = place;
  const cluster = new LaunchedCluster(place, parts);
  let code = 0;
  try {
    const running = await Promise.race([cluster.start(), request.first, cluster.displaced]);
    if (running !== undefined) {
      terminal.step('ready');
      terminal.print(welcome(running, dataFolder));
    }
    await Promise.race([request.first, cluster.displaced]);
    terminal.print('');
    terminal.step('stopping');
  } catch (error) {
    code = explain(error, terminal);
  }
  await stopInTime(cluster, place, request);
  // Of a start that failed the reason is all that there is to say.
  if (code === 0) terminal.step('everything has stopped');
  return code;
}

async function stopInTime(
  cluster: LaunchedCluster,
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

function explain(error: unknown, terminal: LauncherTerminal): number {
  const fault = asStartFault(error) ?? asDatabaseFault(error);
  if (fault !== undefined) {
    for (const line of fault.message.split('\n')) terminal.problem(line);
    return fault.exitCode;
  }
  terminal.problem(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.bug;
}
