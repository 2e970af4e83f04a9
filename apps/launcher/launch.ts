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

/**
 * A stop becomes a kill after the first time, and ends the launcher after the second. Ten seconds are
 * promised.
 */
const KILL_AFTER_MS = 8_000;
const EXIT_AFTER_MS = 9_500;
const LEFTOVER_TIMEOUT_MS = 3_000;

/** Runs a cluster until it is told to stop. Resolves with the exit code. */
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

/** Checks everything that can prevent a start before the first process starts. */
async function prepare(
  config: LauncherConfig,
  terminal: LauncherTerminal,
  clock: Clock,
): Promise<DataFolder> {
  const holder = `process ${process.pid}, port ${config.PORT}`;
  const folder = await openDataFolder(path.resolve(config.DATA_DIR), holder, clock);
  forgetCluster(folder.path);
  const ended = await endLeftovers(folder.marker, clock, LEFTOVER_TIMEOUT_MS);
  if (ended > 0) terminal.step('ended the processes that a killed launcher had left');
  await refuseUnlessFree(config);
  return folder;
}

/** A wrong address is a wrong setting; a port in use may be free later. The exit codes tell them apart. */
async function refuseUnlessFree(config: LauncherConfig): Promise<void> {
  const { LISTEN_HOST: host } = config;
  for (const port of fixedPortsOf(config)) {
    const error = await whyNotListen(port, host);
    if (error === undefined) continue;
    if (isCodedError(error) && NO_ADDRESS_OF_OURS.has(error.code)) {
      throw new ConfigFault([
        `LISTEN_HOST=${JSON.stringify(host)} is wrong: it is not an address of this machine (${error.code})`,
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
  // After a failed start the reason alone is printed.
  if (code === 0) terminal.step('everything has stopped');
  return code;
}

async function stopInTime(
  cluster: LaunchedCluster,
  { clock, terminal }: ClusterPlace,
  request: StopRequest,
): Promise<void> {
  const killAll = (): void => cluster.kill();
  const cancelKill = clock.after(KILL_AFTER_MS, killAll);
  const cancelExit = clock.after(EXIT_AFTER_MS, () => {
    terminal.problem('not everything stopped in time; the remaining processes end by themselves');
    process.exit(EXIT.unavailable);
  });
  void request.second.then(killAll);
  await cluster.stop();
  cancelKill();
  cancelExit();
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
