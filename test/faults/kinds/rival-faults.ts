import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulator/kernel/random.js';
import type { Installation } from '../installation/installation.js';
import { OWNERS } from '../installation/plan.js';
import { whereItIsSeen, type InjectedFaultKind } from './fault-kind.js';
import { until, whileStopped } from './struck.js';

const RIVAL_MS = { least: 100, most: 2_000 };
const IN_PLACE_WITHIN_MS = 20_000;
/** An owner logs this after taking over a shard. */
const IN_PLACE = '"msg":"recovered"';

export const rivalFaults: readonly InjectedFaultKind[] = [
  { name: 'rival:owner', missing: whereItIsSeen, strike: depose },
];

/**
 * A second process takes over an owner's shard while the first is paused, and runs when the first goes on: only
 * one may write. In the end the launcher's own process must have the shard again.
 */
async function depose(site: Installation, random: Random): Promise<void> {
  const name = random.pick(OWNERS);
  const rival = await whileStopped([site.pidOf(name)], async () => {
    const started = await rivalInPlace(site, name);
    await sleep(random.between(RIVAL_MS.least, RIVAL_MS.most));
    return started;
  });
  await sleep(random.between(RIVAL_MS.least, RIVAL_MS.most));
  await ended(rival);
}

/** Resolves once it has taken over the shard; a rival that does not is killed. */
async function rivalInPlace(site: Installation, name: string): Promise<ChildProcess> {
  const { plan } = site.placeOf(name);
  const file = path.join(site.logFolder, `${name}-rival.log`);
  const log = openSync(file, 'a');
  const { size } = statSync(file);
  const rival = spawn(process.execPath, [path.resolve('dist/apps', plan.script)], {
    env: { ...plan.env, ...site.markerEnv, INSTANCE: `${name}-rival`, INTERNAL_PORT: '0' },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const isInPlace = (): boolean => readFileSync(file).subarray(size).includes(IN_PLACE);
  try {
    await until(
      () => isInPlace() || hasEnded(rival),
      IN_PLACE_WITHIN_MS,
      () => 'the rival does not come up',
    );
    if (!isInPlace()) throw new Error('the rival has not taken the shard over');
    return rival;
  } catch (error) {
    await ended(rival);
    throw error;
  }
}

async function ended(rival: ChildProcess): Promise<void> {
  if (hasEnded(rival)) return;
  const gone = once(rival, 'exit');
  rival.kill('SIGKILL');
  await gone;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
