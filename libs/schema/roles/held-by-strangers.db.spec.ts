import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { EvidenceFeed } from '#libs/custody/evidence-feed.js';
import { JournalLock } from '#libs/journal/home/journal-lock.js';
import { JournalSeals } from '#libs/journal/seals/journal-seals.js';
import { PostgresStore } from '#libs/journal/stores/postgres-store.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { Leases } from '#libs/projections/following/leases.js';
import { eventually } from '#libs/testing/eventually.js';
import { RoleLogins } from '#libs/testing/database/role-logins.js';
import { urlAs } from './database-roles.js';
import { GRANTS, type DatabaseRole } from './grants.js';

const SHARDS = [0, 1, 2];
/** Every lock that an owner, a projector and an executor come by, those of earlier releases included. */
const TAKE_ALL = `
  select pg_advisory_lock(1193046473), pg_advisory_lock(1193046474), pg_advisory_lock(7210554317);
  select pg_advisory_lock(1193046471, shard), pg_advisory_lock(1749203316, shard) from generate_series(0, 2) shard`;
const WITHIN_MS = 5_000;

const clock = new SystemClock();
let logins: RoleLogins;
let stranger: pg.Client | undefined;
const pools: pg.Pool[] = [];

beforeAll(async () => {
  logins = await RoleLogins.open();
  // As on a server that somebody else administers, who has left them to everybody.
  await logins.database.pool.query(
    'grant execute on function pg_advisory_lock(bigint), pg_advisory_lock(integer, integer) to public',
  );
});
afterEach(async () => {
  await stranger?.end();
  stranger = undefined;
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});
afterAll(() => logins.close());

const as = (role: DatabaseRole): string => urlAs(logins.database.url, role, logins.passwords[role]);

function poolOf(role: DatabaseRole): pg.Pool {
  const pool = openPool(as(role), { applicationName: 'test', max: 4 });
  pools.push(pool);
  return pool;
}

async function takeAll(role: DatabaseRole): Promise<string> {
  stranger = await logins.connect(role, logins.passwords[role]);
  const { rows } = await stranger.query<{ pid: number }>('select pg_backend_pid() as pid');
  await stranger.query(TAKE_ALL);
  return `process ${rows[0]!.pid}, role ${logins.name}_${role}`;
}

const storeOf = (role: DatabaseRole): PostgresStore =>
  new PostgresStore({
    databaseUrl: as(role),
    pool: poolOf(role),
    clock,
    shards: SHARDS,
    instance: 'test',
    seals: new JournalSeals([Buffer.alloc(32, 7)]),
  });

describe.each(['gateway', 'projector', 'executor', 'operations'] as const)(
  'with every lock in the hands of the login of %s',
  (role) => {
    it(
      'an owner opens its shard and writes',
      async () => {
        await takeAll(role);
        const store = storeOf('owner');
        const writer = await store.journalOf('owner').open(1);
        await writer.append(['"written all the same"']);
        await writer.close();
        await store.close();
      },
      WITHIN_MS,
    );

    it('who moves the journals is told who is in his way, and nobody is taken for a writer of them', async () => {
      const who = await takeAll(role);
      await expect(new JournalLock(logins.database.url, clock).takeAlone()).rejects.toMatchObject({
        exitCode: 69,
        message: expect.stringContaining(who),
      });
      expect(await JournalLock.isHeld(logins.database.pool)).toBe(false);
    });
  },
);

it('a projector works on its shards beside a stranger, and has them alone when he has gone', async () => {
  await takeAll('gateway');
  const [one, other] = [new Leases(poolOf('projector'), SHARDS), new Leases(poolOf('projector'), SHARDS)];
  expect([...(await one.renew())].sort()).toEqual(SHARDS);
  expect([...(await other.renew())].sort()).toEqual(SHARDS);
  await stranger?.end();
  await eventually(async () => {
    expect([...(await one.renew())].sort()).toEqual(SHARDS);
    expect([...(await other.renew())]).toEqual([]);
  });
  one.release();
  other.release();
});

it('an executor goes on vouching for evidence', async () => {
  await logins.database.pool.query(`
    insert into custody.balances (account_id, venue, asset, amount) values ('00000000-0000-4000-8000-000000000001', 'v', 'COLLATERAL', 5)`);
  await takeAll('projector');
  const faults: unknown[] = [];
  const witness = { fault: (error: unknown) => faults.push(error), spoiled: () => undefined };
  const feed = new EvidenceFeed(poolOf('executor'), clock, witness);
  await feed.start();
  await feed.stop();
  expect([faults, Math.round(feed.holdsSeconds)]).toEqual([[], 90]);
});

it('an owner that began beside a stranger has the lock of writers when he has gone', async () => {
  await takeAll('projector');
  const lock = new JournalLock(as('owner'), clock);
  await lock.share();
  await lock.confirmShared();
  await stranger?.end();
  await eventually(async () => {
    await lock.confirmShared();
    expect(await JournalLock.isHeld(logins.database.pool)).toBe(true);
  });
  await expect(new JournalLock(logins.database.url, clock).takeAlone()).rejects.toThrow('sotto-journal-lock');
  await lock.letGo();
});

it('an owner waits for who moves the journals, whose right it is', async () => {
  const mover = new JournalLock(logins.database.url, clock);
  await mover.takeAlone();
  const lock = new JournalLock(as('owner'), clock);
  await expect(lock.share()).rejects.toMatchObject({
    exitCode: 69,
    message: expect.stringContaining('being moved'),
  });
  await mover.letGo();
});

/** docs/security.md says what stands still meanwhile, so it has to know them all. */
it.each([
  [
    'gateway',
    [
      'control.group_members',
      'control.groups',
      'control.protection',
      'control.protection_awards',
      'control.protection_state',
      'identity.login_failures',
      'identity.revocations',
      'identity.sessions',
      'identity.signing_keys',
    ],
  ],
  [
    'projector',
    [
      'completed.auctions',
      'completed.viewers',
      'execution.answers',
      'execution.events',
      'execution.positions',
      'execution.quotes',
    ],
  ],
  ['executor', ['risk.evidence']],
  ['operations', ['control.accounts_policy', 'control.principals', 'identity.enrolments', 'identity.users']],
  [
    'owner',
    [
      'control.protection_awards',
      'control.protection_state',
      'journal.accepted',
      'journal.restored',
      'journal.shards',
      'journal.snapshots',
      'journal.witness',
      'risk.reserved',
      'risk.shard_fence',
    ],
  ],
] as const)(
  'the login of %s can keep others from what it may write, and from nothing else',
  async (role, tables) => {
    const lockable: string[] = [];
    for (const table of Object.keys(GRANTS)) {
      const outcome = await logins.attempt(role, `lock table ${table} in access exclusive mode nowait`);
      if (outcome === 'done') lockable.push(table);
    }
    expect(lockable.sort()).toEqual(tables);
  },
);
