import { AwardCarrier } from '#apps/settler/award-carrier.js';
import { PostgresSettlement } from '#libs/auction/settlement/postgres-settlement.js';
import { poolOf } from '../storage/sql-pool.js';
import { openLink } from './owner.js';
import type { Life } from './unit.js';
import { SHARDS } from './world.js';

/** A settler's process: one carrier for each shard. */
export function bootSettler(life: Life): Promise<void> {
  const { host, clock, random, world } = life;
  const pool = poolOf(world.database, host);
  for (const shard of SHARDS) {
    new AwardCarrier({
      link: openLink(life, shard),
      desk: new PostgresSettlement(pool, clock, () => random.next()),
      clock,
      concurrency: world.settings.executionConcurrency,
      meter: { settled: () => undefined },
      blocked: { blocked: () => undefined, failed: () => undefined, letGo: () => undefined },
      onFault: (what, error) => world.onFault(host.name, what, error),
    }).start();
  }
  return Promise.resolve();
}
