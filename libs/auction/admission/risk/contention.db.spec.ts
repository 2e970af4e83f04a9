import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Need } from '../../rules/holds.js';
import type { Hold } from '../../rules/terms.js';
import { pause } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { admissionMigrations } from '../migrations/list.js';
import { funded, stateEvidence } from './evidence-rows.fixture.js';
import { PostgresReservationDesk } from './postgres-desk.js';

const SHARDS = [0, 1, 2];
const CALLERS = 16;
const COST = 500;
const NEED: Need = {
  side: 'BUY',
  routes: [{ venue: 'venue_a', contract_id: 'rain', outcome: 'YES' }],
  price_atoms: 500_000,
  quantity_atoms: 2 * COST,
  parts: 1,
};

const clock = new SystemClock();
let database: TestDatabase;
let desks: PostgresReservationDesk[];

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
  desks = await Promise.all(
    SHARDS.map((shard) =>
      PostgresReservationDesk.open({
        url: database.url,
        shard,
        epoch: 1,
        clock,
        random: () => randomInt(1_000) / 1_000,
      }),
    ),
  );
});
afterAll(async () => {
  await Promise.all(desks.map((desk) => desk.close()));
  await database.drop();
});

async function heldByAll(account: string): Promise<number> {
  const { rows } = await database.pool.query<{ held: number }>(
    `select (shard_0 + shard_1 + shard_2)::float8 as held from risk.reserved
     where account_id = $1 and resource = 'COLLATERAL'`,
    [account],
  );
  return rows[0]?.held ?? 0;
}

async function quote(desk: PostgresReservationDesk, account: string): Promise<readonly Hold[] | undefined> {
  const [outcome] = await desk.reserve([{ account, need: NEED, current: [] }]);
  return outcome?.ok === true ? outcome.hold : undefined;
}

function callers<T>(work: (desk: PostgresReservationDesk) => Promise<T>): Promise<T[]> {
  return Promise.all(desks.flatMap((desk) => Array.from({ length: CALLERS }, () => work(desk))));
}

function count(name: 'commits' | 'aborts'): number {
  return desks.reduce((sum, desk) => sum + desk.totals()[name], 0);
}

describe('one account quoted from all three shards at the same time', () => {
  it('is granted exactly as many quotes as it can afford', async () => {
    const [account, affordable] = ['exactly', 20];
    await stateEvidence(database.pool, funded(account, affordable * COST + COST - 1, ['venue_a']));
    const granted = (await callers((desk) => quote(desk, account))).filter((hold) => hold !== undefined);
    expect(granted).toHaveLength(affordable);
    expect(await heldByAll(account)).toBe(affordable * COST);
  });

  it('loses fewer than one transaction in ten to conflicts', async () => {
    const account = 'busy';
    const affordable = 20;
    await stateEvidence(database.pool, funded(account, affordable * COST, ['venue_a']));
    const before = { commits: count('commits'), aborts: count('aborts') };
    let active = 0;
    let most = 0;
    await callers(async (desk) => {
      for (let round = 0; round < 20; round += 1) {
        const hold = await quote(desk, account);
        if (hold === undefined) continue;
        active += 1;
        most = Math.max(most, active);
        await pause(clock, 1);
        active -= 1;
        await desk.release([{ account, hold }]);
      }
    });
    expect(most).toBeLessThanOrEqual(affordable);
    expect(await heldByAll(account)).toBe(0);
    expect(count('aborts') - before.aborts).toBeLessThan((count('commits') - before.commits) / 10);
  });
});
