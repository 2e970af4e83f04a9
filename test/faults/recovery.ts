import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { Random } from '../simulator/kernel/random.js';
import { isAlive, signalAll } from './installation/families.js';
import type { Installation } from './installation/installation.js';
import type { LoadCaller, WireCommand } from './load/caller.js';
import { createErrand, shardFor } from './load/deeds.js';

const SHARD = 0;
const AT_ONCE = 48;
const TERM_MS = 3_600_000;
const LOOK_EVERY_MS = 15;
const HEALTHY_MS = 5_000;
/** A process that is not back after this time is late in any case. */
const PATIENCE_MS = 180_000;

/** The promised time, and for how many open auctions. */
const WANTED = { openAuctions: 10_000, readyMs: 5_000 };
/** The limit for a busy machine. */
const BUSY_MS = 30_000;

export interface Recovery {
  readonly openAuctions: number;
  /** From the kill until the process is ready. */
  readonly readyMs: number;
  /** From the kill until a command in its shard was settled. */
  readonly servesMs: number;
}

/** Opens this many auctions at one owner, kills it, and waits for its successor. */
export async function measureRecovery(
  site: Installation,
  originators: readonly LoadCaller[],
  maker: string,
  count: number,
  random: Random,
): Promise<Recovery> {
  const contract = site.seed.contracts[0];
  if (contract === undefined) throw new Error('there is no contract');
  let left = count;
  const opener = async (index: number): Promise<void> => {
    const originator = originators[index % originators.length];
    while (originator !== undefined && left > 0) {
      left -= 1;
      await originator.settle(longErrand(originator.account, contract, maker, random), () => false);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => opener(index)));
  const name = `owner-${SHARD}`;
  // A process that has died often is restarted with a delay, so this one must have run for a while.
  await sleep(Math.max(0, HEALTHY_MS - site.ageOf(name)));
  const pid = site.pidOf(name);
  const began = performance.now();
  signalAll([pid], 'SIGKILL');
  while (isAlive(pid)) await sleep(1);
  const [originator] = originators;
  if (originator === undefined) throw new Error('there is no originator');
  const served = originator
    .settle(longErrand(originator.account, contract, maker, random), () => isTooLong(began))
    .then(() => performance.now() - began);
  const readyMs = await untilReady(`${site.internalUrl(name)}/readyz`, began);
  return { openAuctions: count, readyMs, servesMs: await served };
}

/** The time limit for readiness; with fewer auctions than the promise names, the promise itself is not judged. */
export function readyWithin({ openAuctions }: Recovery): {
  readonly millis: number;
  readonly isPromise: boolean;
} {
  const isPromise = openAuctions >= WANTED.openAuctions;
  return { millis: isPromise ? (WANTED.readyMs * openAuctions) / WANTED.openAuctions : BUSY_MS, isPromise };
}

/** What was late, as text. */
export function lateIn(recovery: Recovery): string[] {
  const { openAuctions, readyMs, servesMs } = recovery;
  const { millis } = readyWithin(recovery);
  const bounds = [
    ['ready', readyMs, millis],
    ['serving', servesMs, Math.max(millis, BUSY_MS)],
  ] as const;
  return bounds
    .filter(([, took, within]) => took > within)
    .map(
      ([what, took, within]) =>
        `recovery in time: with ${openAuctions} open auctions ${what} after ${Math.round(took)} ms, later than ${within} ms`,
    );
}

async function untilReady(url: string, began: number): Promise<number> {
  for (;;) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200 || isTooLong(began)) return performance.now() - began;
    await sleep(LOOK_EVERY_MS);
  }
}

function isTooLong(began: number): boolean {
  return performance.now() - began > PATIENCE_MS;
}

/** Small, with a key that leads to this shard. */
function longErrand(account: string, contract: ClusterContract, maker: string, random: Random): WireCommand {
  for (;;) {
    const errand = createErrand(account, contract, [maker], random, {
      side: 'BUY',
      quantity_atoms: contract.quantity_step_atoms,
      min_fill_quantity_atoms: contract.quantity_step_atoms,
      limit_price_atoms: contract.price_tick_atoms,
      duration_ms: TERM_MS,
    });
    if (shardFor(errand) === SHARD) return errand;
  }
}
