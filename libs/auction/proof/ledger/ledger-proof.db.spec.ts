import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import type { PoolClient } from 'pg';
import type { AuctionEvent } from '../../rules/events.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { decodeEvent, isOfAuction } from '../../rules/event-versions.js';
import { failAsJournaled, settleAsJournaled } from '../../settlement/journaled-settlements.js';
import { seedBalances } from '#libs/ledger/seed.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { openPool, withTransaction } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';
import { SESSION_MAKERS, SESSION_ROUTES } from '#libs/testing/auctions/sessions.js';
import { settledSession } from '#libs/testing/auctions/settled-session.js';
import { uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { takeRolesOut } from '#libs/testing/database/role-logins.js';
import { HeldByJournal } from '../reservations.js';
import { checkLedger } from './check-ledger.js';
import { LedgerProof } from './ledger-proof.js';

jest.setTimeout(60_000);

const AUCTIONS = 250;
const PLENTY = 1_000_000_000;
const SHARDS = [0, 1, 2];
const UNKNOWN_AWARD = '0a000000-0000-8000-8000-000000000000';
/** What only the owner of the tables could do. */
const OFF_GUARD = `
  alter table custody.transactions disable trigger user;
  alter table custody.entries disable trigger user, drop constraint entries_transaction_id_fkey;
  alter table custody.settlements disable trigger user, drop constraint settlements_transaction_id_fkey;
  alter table custody.openings disable trigger user, drop constraint openings_transaction_id_fkey`;
const now = instantFromNanos(new SystemClock().epochNanos());
const moment = { now, evidenceTtlMillis: 60_000 };
const { drawn, journal, settled, failed } = settledSession(5, AUCTIONS);
let database: TestDatabase;

/** Settles each award by the last route that could carry it. */
beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  const accounts = ['olga', ...SESSION_MAKERS].map((name) => uuidNamed(name));
  const balances = accounts.flatMap((account) => [
    ...SESSION_ROUTES.map(({ venue, contract_id: contract, outcome }) => ({
      account,
      venue,
      asset: `${contract}/${outcome}`,
      amount: PLENTY,
    })),
    ...[...new Set(SESSION_ROUTES.map(({ venue }) => venue))].map((venue) => {
      return { account, venue, asset: '', amount: PLENTY };
    }),
  ]);
  await seedBalances(database.pool, balances, [], moment);
  expect(settled.length).toBeGreaterThan(5);
  expect(failed.length).toBeGreaterThan(3);
  await withTransaction(database.pool, 'read committed', async (client) => {
    await settleAsJournaled(client, settled, moment);
    await failAsJournaled(client, failed, moment);
  });
});

afterAll(() => database.drop());

async function faultsIn(
  client: PoolClient | pg.Pool,
  records: readonly JournalEntry[],
  shards: readonly number[] = SHARDS,
): Promise<readonly string[]> {
  const proof = new LedgerProof();
  const held = new HeldByJournal(journal.shard, (position, event, after) => {
    proof.take(journal.shard, position, event, after);
  });
  held.take(records);
  const { faults } = await checkLedger(client, proof, {
    shards,
    allShards: SHARDS,
    pending: held.pending,
    readOn: () => Promise.resolve(),
  });
  return faults;
}

/** The faults after a statement that bypasses all guards. It is rolled back. */
async function faultsAfter(
  statement: string,
  records: readonly JournalEntry[] = journal.records,
): Promise<string> {
  const client = await database.pool.connect();
  try {
    await client.query('begin');
    await client.query(OFF_GUARD);
    await client.query(statement);
    return (await faultsIn(client, records)).join('\n');
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** The award that was settled first. */
const FIRST = `(select award_id from custody.settlements where transaction_id = 2)`;

describe('a ledger that is compared with the journals', () => {
  it('is sound if it matches them', async () => {
    expect(await faultsIn(database.pool, journal.records)).toEqual([]);
  });

  it('can be checked by the role of operations', async () => {
    expect(await prepareDatabaseRoles(database.url, { operations: 'p' })).toBe(true);
    const pool = openPool(urlAs(database.url, 'operations', 'p'), { applicationName: 'test', max: 1 });
    expect(await faultsIn(pool, journal.records)).toEqual([]);
    await pool.end();
    await takeRolesOut(database);
  });

  it('must name the route of a settlement, and so must the record', async () => {
    const forget = 'update custody.settlements set asset = null, delivered_atoms = null';
    expect(await faultsAfter(forget)).toMatch(
      /the ledger does not say by which route transaction \d+ settled it/,
    );
    expect((await faultsIn(database.pool, drawn.records)).join('\n')).toContain(
      'its record does not say how it was settled',
    );
  });

  it('is checked for one shard without the awards of others', async () => {
    const client = await database.pool.connect();
    await client.query('begin');
    await client.query(
      `insert into custody.settlements (award_id, outcome, reason, recorded_at) values ('${UNKNOWN_AWARD}', 'FAILED', 'x', now())`,
    );
    expect(await faultsIn(client, journal.records, [1])).toEqual([]);
    expect(await faultsIn(client, journal.records, [0])).toHaveLength(1);
    await client.query('rollback');
    client.release();
  });

  const posted = (kind: string, cause = 'null') => `
    insert into custody.transactions overriding system value values (7777, '${kind}', now(), ${cause});
    insert into custody.entries values (7777, 'system:opening', 'vault', 'venue_a', '', 'available', -5), (7777, 'mallory', 'vault', 'venue_a', '', 'available', 5);`;
  const RECORD = String.raw`see record \d+ of shard 0`;
  const cases: [string, string, string][] = [
    [
      'a settlement of an unknown award',
      `${posted('SETTLEMENT')} insert into custody.settlements values ('${UNKNOWN_AWARD}', 'SETTLED', null, 'venue_a', 7777, now())`,
      `award ${UNKNOWN_AWARD} is in the ledger, and no journal knows it: SETTLED by transaction 7777`,
    ],
    [
      'a settlement of no award',
      posted('SETTLEMENT'),
      'transaction 7777 is a SETTLEMENT, and no award was settled by it',
    ],
    [
      'an opening without a reference',
      posted('OPENING'),
      'transaction 7777 is an OPENING, and no reference explains it',
    ],
    [
      'an unknown kind',
      `alter table custody.transactions drop constraint transactions_kind_check, drop constraint bookings_name_causes; ${posted('GIFT')}`,
      'transaction 7777 is GIFT, which is an unknown kind',
    ],
    [
      'a transfer of the vault without a request',
      posted('TRANSFER', `'${UNKNOWN_AWARD}'`),
      'transaction 7777 is a TRANSFER of the vault, and no request explains it',
    ],
    [
      'a fill in the vault',
      posted('FILL', `'${UNKNOWN_AWARD}'`),
      'transaction 7777 is FILL and enters something in the vault',
    ],
    [
      'two awards with swapped transactions',
      `update custody.settlements set transaction_id = 9999 where transaction_id = 2;
       update custody.settlements set transaction_id = 2 where transaction_id = 3;
       update custody.settlements set transaction_id = 3 where transaction_id = 9999`,
      String.raw`award \S+: transaction 3 enters -?\d+ for .* instead of -?\d+: ${RECORD}`,
    ],
    [
      'another venue',
      `update custody.settlements set venue = 'venue_x' where transaction_id = 2`,
      String.raw`award \S+: the ledger says venue_x/\S+ with \d+ delivered, the record .*: ${RECORD}`,
    ],
    [
      'an atom more',
      `update custody.entries set amount = amount + sign(amount) where transaction_id = 2 and asset = '' and account_id not like 'system:%'`,
      String.raw`award \S+: transaction 2 enters -?\d+ for \S+ on \S+, collateral instead of -?\d+: ${RECORD}`,
    ],
    [
      'a third party in a settlement',
      `insert into custody.entries values (2, 'mallory', 'vault', 'venue_a', '', 'available', 5), (2, 'system:escrow', 'vault', 'venue_b', '', 'available', -5)`,
      String.raw`award \S+: transaction 2 enters 5 for mallory on venue_a, collateral instead of 0: ${RECORD}`,
    ],
    [
      'a settlement with entries outside the vault',
      `insert into custody.entries values (2, 'mallory', 'chain', 'venue_a', '', 'available', 5), (2, 'eve', 'chain', 'venue_a', '', 'available', -5)`,
      'transaction 2 is a SETTLEMENT and enters something outside the vault',
    ],
    [
      'missing entries',
      `delete from custody.entries where transaction_id = 2 and asset <> ''`,
      String.raw`award \S+: transaction 2 enters nothing for .* instead of -?\d+: ${RECORD}`,
    ],
    ['a transaction without entries', 'delete from custody.entries where transaction_id = 2', 'transaction 2 has no entries'], // prettier-ignore
    [
      'entries without a transaction',
      `insert into custody.entries values (7777, 'mallory', 'vault', 'venue_a', '', 'available', 5)`,
      'there are entries of transaction 7777, which is not there',
    ],
    [
      'an award that is missing in the ledger',
      'delete from custody.settlements where transaction_id = 2',
      String.raw`award \S+ is SETTLED in the journal, nothing in the ledger: ${RECORD}`,
    ],
    [
      'a settled award that is marked as failed',
      `update custody.settlements set outcome = 'FAILED', reason = 'x', transaction_id = null where transaction_id = 2`,
      String.raw`award \S+ is SETTLED in the journal, FAILED in the ledger: ${RECORD}`,
    ],
    [
      'a failed award that is marked as settled',
      `update custody.settlements set outcome = 'SETTLED' where outcome = 'FAILED'`,
      String.raw`award \S+ is FAILED in the journal, SETTLED in the ledger: ${RECORD}`,
    ],
    [
      'a settlement by an opening',
      'update custody.settlements set transaction_id = 1 where transaction_id = 2',
      String.raw`award \S+: transaction 1 is OPENING: ${RECORD}`,
    ],
    [
      'two awards by one transaction',
      `alter table custody.settlements drop constraint settlements_transaction_id_key;
       update custody.settlements set transaction_id = 2 where transaction_id = 3`,
      String.raw`transaction 2 has settled more than one award: \S+, \S+`,
    ],
    [
      'a reference to no opening',
      `insert into custody.openings values ('wire-1', 2)`,
      `reference 'wire-1' names transaction 2, which is no opening`,
    ],
    [
      'an opening that takes from an account',
      `${posted('OPENING')} update custody.entries set amount = -amount where transaction_id = 7777; insert into custody.openings values ('wire-1', 7777)`,
      'transaction 7777 is an OPENING and takes from mallory',
    ],
  ];
  it.each(cases)('is faulty with %s', async (_what, statement, fault) => {
    expect(await faultsAfter(statement)).toMatch(new RegExp(`^${fault}$`, 'm'));
  });

  it('is faulty if an award without a journaled end was settled wrongly', async () => {
    const { rows } = await database.pool.query<{ id: string }>(`select ${FIRST} as id`);
    const until = journal.records.findIndex(
      ({ payload }) => payload.includes('EXECUTION_CONFIRMED') && payload.includes(rows[0]!.id),
    );
    const early = journal.records.slice(0, until);
    const others = `delete from custody.settlements where award_id <> ${FIRST}`;
    const named = (faults: string) => faults.split('\n').filter((fault) => fault.includes(rows[0]!.id));
    expect(named(await faultsAfter(others, early))).toEqual([]);
    const more = `${others}; update custody.entries set amount = amount + sign(amount) where transaction_id = 2`;
    expect(named(await faultsAfter(more, early))).toEqual([
      expect.stringMatching(/transaction 2 enters .* instead of .*: see auction \S+, which is not over$/),
    ]);
  });

  it('is checked again for an award that is made and settled while it is read', async () => {
    const id = (await database.pool.query<{ id: string }>(`select ${FIRST} as id`)).rows[0]!.id;
    const isOfIt = ({ kind, payload }: JournalEntry) => kind === 'event' && payload.includes(id);
    const awarded = decodeEvent(journal.records.find(isOfIt)!.payload) as AuctionEvent;
    const proof = new LedgerProof();
    for (const record of journal.records) {
      const event = record.kind === 'event' && !isOfIt(record) ? decodeEvent(record.payload) : undefined;
      if (event !== undefined && isOfAuction(event)) proof.award(event);
    }
    const question = { shards: SHARDS, allShards: SHARDS, pending: [] };
    const still = { ...question, readOn: () => Promise.resolve() };
    expect((await checkLedger(database.pool, proof, still)).faults).toContainEqual(
      expect.stringContaining(`award ${id} is in the ledger, and no journal knows it`),
    );
    const readOn = () => {
      proof.award(awarded);
      return Promise.resolve();
    };
    expect((await checkLedger(database.pool, proof, { ...question, readOn })).faults).toEqual([]);
  });

  it('is reported with the first of many faults, and their number', async () => {
    const many = `insert into custody.settlements (award_id, outcome, reason, recorded_at)
      select ('0a000000-0000-8000-8000-' || lpad(n::text, 12, '0'))::uuid, 'FAILED', 'x', now() from generate_series(1, 60) n`;
    const faults = (await faultsAfter(many)).split('\n');
    expect([faults.length, faults.at(-1)]).toEqual([51, 'and 10 more awards that no journal knows']);
  });
});
