import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../eventually.js';
import { startCluster } from './cluster.js';
import { RunningCluster } from './running-cluster.js';

/** Longer than a cluster may take to become ready. */
const STARTED_WITHIN_MS = 90_000;

/**
 * Limits so wide that specs do not disturb each other, a short heartbeat of streams, and more makers than fit into one audience.
 */
const SETTINGS = {
  GATEWAYS: '2',
  LIMITS_FACTOR: '50',
  LOAD_ACCOUNTS: 'makers:200,originators:80',
  STREAM_HEARTBEAT_MS: '1000',
};

/** Users have five orders a second, as in production. Specs that need more have to wait. */
const TRADING_SETTINGS = { SERVICES: 'execution', PRACTICE_STILL: '1', LIMITS_FACTOR: '50' };

/** Specs write the files that the cluster reads, in `recorded` of its folder. */
const DATA_SETTINGS = { SERVICES: 'data', DATA_SOURCES: 'seed,recorded', LIMITS_FACTOR: '50' };

/** Names this run of jest. Workers inherit the variable. */
export const TEST_RUN_VARIABLE = 'SOTTO_TEST_RUN';

/** The heartbeat interval of streams of the shared cluster. */
export const SHARED_HEARTBEAT_MS = Number(SETTINGS.STREAM_HEARTBEAT_MS);

/**
 * One cluster for all specs of a run, whichever worker they run in. The first caller starts it: creating the folder of the run
 * succeeds only once. The cluster ends with jest itself, not with the worker that started it.
 */
export function sharedCluster(): Promise<RunningCluster> {
  return shared('run', SETTINGS);
}

/** The same for specs about orders. */
export function sharedTradingCluster(): Promise<RunningCluster> {
  return shared('trading', TRADING_SETTINGS);
}

/** The same for specs about market data. */
export function sharedDataCluster(): Promise<RunningCluster> {
  return shared('data', DATA_SETTINGS);
}

async function shared(name: string, env: Readonly<Record<string, string>>): Promise<RunningCluster> {
  const run = process.env[TEST_RUN_VARIABLE] ?? String(jestPid());
  const folder = path.join(tmpdir(), `sotto-e2e-${name}-${run}`);
  if (isFirst(folder)) await start(folder, env);
  return eventually(() => found(folder), STARTED_WITHIN_MS);
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function start(folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  try {
    const cluster = await startCluster({ env, endsWith: jestPid(), leftovers: [folder] });
    note(folder, 'place', cluster.dataDir);
  } catch (error) {
    note(folder, 'failure', String(error));
    throw error;
  }
}

function found(folder: string): RunningCluster {
  const failure = path.join(folder, 'failure');
  if (existsSync(failure)) throw new Error(readFileSync(failure, 'utf8'));
  const cluster = new RunningCluster(readFileSync(path.join(folder, 'place'), 'utf8'));
  if (!cluster.isReady) throw new Error(`the shared cluster in ${cluster.dataDir} is not ready`);
  return cluster;
}

/** Written by renaming, so that no reader sees half a file. */
function note(folder: string, name: string, text: string): void {
  const file = path.join(folder, name);
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** A worker is a child of jest. Specs that run one by one run in jest itself. */
function jestPid(): number {
  return process.argv[1]?.includes('jest-worker') === true ? process.ppid : process.pid;
}
