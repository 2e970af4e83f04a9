import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulator/kernel/random.js';
import { signalAll } from '../installation/families.js';
import type { Installation } from '../installation/installation.js';
import { OWNERS } from '../installation/plan.js';
import { alwaysThere, type FaultKind } from './fault-kind.js';

const RIVAL_MS = { least: 2_000, most: 6_000 };

export const rivalFaults: readonly FaultKind[] = [
  { name: 'rival:owner', missing: alwaysThere, strike: depose },
];

/**
 * A second process takes an owner's shard over while the first is paused, and is there when the first goes on: only one of
 * them may write. In the end the launcher's own has to have the shard again.
 */
async function depose(site: Installation, random: Random): Promise<void> {
  const name = random.pick(OWNERS);
  const paused = site.pidOf(name);
  signalAll([paused], 'SIGSTOP');
  const { plan } = site.placeOf(name);
  const log = openSync(path.join(site.logFolder, `${name}-rival.log`), 'a');
  const env = { ...plan.env, ...site.markerEnv, INSTANCE: `${name}-rival`, INTERNAL_PORT: '0' };
  const rival = spawn(process.execPath, [path.resolve('dist/apps', plan.script)], {
    env,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const gone = once(rival, 'exit');
  await sleep(random.between(RIVAL_MS.least, RIVAL_MS.most));
  signalAll([paused], 'SIGCONT');
  await sleep(random.between(100, RIVAL_MS.least));
  rival.kill('SIGKILL');
  await gone;
}
