import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { instantFromNanos } from '#libs/base/instant.js';
import { decodeEvent } from '../../rules/event-versions.js';
import { seedBalances } from '#libs/ledger/seed.js';
import { beforeFirst } from '#libs/journal/hash-chain.js';
import { JournalLock } from '#libs/journal/backend/journal-lock.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { SESSION_MAKERS, SESSION_ROUTES } from '#libs/testing/auctions/sessions.js';
import { settledSession } from '#libs/testing/auctions/settled-session.js';
import { uuidNamed, WrittenJournal } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { acceptRestored, type Acceptance } from './accept-restored.js';
import { acceptanceLines } from './acceptance-text.js';

const clock = new SystemClock();
const SHARDS = [0, 1, 2];
const AUCTIONS = 60;
const PLENTY = 1_000_000_000;
let database: TestDatabase;

const { drawn, journal, ...ends } = settledSession(5, AUCTIONS);
/** How many awards were settled, and how many failed. */
const ended = { settled: ends.settled.length, failed: ends.failed.length };

async function begin(): Promise<void> {
  database = await createTestDatabase(allMigrations);
  await database.pool.query(
    `insert into journal.restored (family, shard, sequence, hash, taken_at)
     select 'auction', shard, 0, decode($2, 'hex'), now() from unnest($1::smallint[]) as shard`,
    [SHARDS, beforeFirst('auction').hash],
  );
}

/** Accepts with the journal of one shard, and none of the others. */
function accept(records: WrittenJournal, confirmed: boolean): Promise<Acceptance | undefined> {
  const store: Pick<JournalStore, 'kind' | 'bareReader' | 'surplus'> = {
    kind: 'kafka',
    bareReader: Object.assign(records, { unchecked: () => Promise.resolve([]) }),
    surplus: async () => {
      const { rows } = await database.pool.query<{ shard: number; sequence: number; hash: string }>(
        `select shard, sequence, encode(hash, 'hex') as hash from journal.restored order by shard`,
      );
      return rows.map((row) => ({ ...row, end: row.shard === records.shard ? records.records.length : 0 }));
    },
  };
  return acceptRestored(
    {
      pool: database.pool,
      clock,
      databaseUrl: database.url,
      store: () => Promise.resolve(store as JournalStore),
      seals: new RecordMacs('auction', [Buffer.alloc(32, 1)]),
      tell: () => undefined,
    },
    confirmed,
  );
}

async function payIn(): Promise<void> {
  const accounts = ['olga', ...SESSION_MAKERS].map((name) => uuidNamed(name));
  const assets = SESSION_ROUTES.flatMap(({ venue, contract_id: contract, outcome }) => [
    { venue, asset: `${contract}/${outcome}` },
    { venue, asset: '' },
  ]);
  const named = new Map(assets.map((asset) => [JSON.stringify(asset), asset]));
  const balances = accounts.flatMap((account) =>
    [...named.values()].map((asset) => ({ account, amount: PLENTY, ...asset })),
  );
  const moment = { now: instantFromNanos(clock.epochNanos()), evidenceTtlMillis: 60_000 };
  await seedBalances(database.pool, balances, [], moment);
}

async function count(text: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`select count(*) from ${text}`);
  return rows[0]?.count ?? -1;
}

const textOf = (acceptance: Acceptance | undefined): string =>
  acceptance === undefined ? '' : acceptanceLines(acceptance).join('\n');

describe('a restored database that is accepted', () => {
  beforeEach(begin);
  afterEach(() => database.drop());

  it('has all settlements and failures of its journals, and a mark at their end', async () => {
    expect(Object.values(ended).every((many) => many > 3)).toBe(true);
    await payIn();
    const asked = await accept(journal, false);
    expect(textOf(asked)).toContain('run this again with --confirm');
    expect(textOf(asked)).toContain(`awards to settle: ${ended.settled};`);
    expect(textOf(asked)).toContain(`to give up: ${ended.failed}`);
    expect(await count('custody.settlements')).toBe(0);
    expect(await count('journal.restored where sequence > 0')).toBe(0);

    const done = await accept(journal, true);
    expect(textOf(done)).toContain('ACCEPTED');
    expect(await count(`custody.settlements where outcome = 'SETTLED'`)).toBe(ended.settled);
    expect(await count(`custody.settlements where outcome = 'FAILED'`)).toBe(ended.failed);
    const { sequence, hash } = journal.records.at(-1)!;
    const { rows } = await database.pool.query(
      `select sequence, encode(hash, 'hex') as hash from journal.restored order by shard`,
    );
    const empty = { sequence: 0, hash: beforeFirst('auction').hash };
    expect(rows).toEqual([{ sequence, hash }, empty, empty]);
    // This database has no accounts.
    expect(done?.unknownAccounts).toContain(uuidNamed('mia'));

    const again = await accept(journal, true);
    expect(textOf(again)).toContain('awards to settle: 0;');
    expect(await count('custody.settlements')).toBe(ended.settled + ended.failed);
  });

  it('is accepted again if the journals have grown meanwhile, with the new records', async () => {
    await payIn();
    const half = new WrittenJournal(journal.shard);
    const ends = journal.records.filter(({ payload }) => /EXECUTION_(CONFIRMED|FAILED)/.test(payload));
    const middle = ends[Math.floor(ends.length / 2)]!.sequence;
    for (const { kind, payload } of journal.records.slice(0, middle)) {
      if (kind === 'event') half.write(decodeEvent(payload));
    }
    expect((await accept(half, true))?.accepted).toBe(true);
    const first = await count('custody.settlements');
    expect((await accept(journal, true))?.accepted).toBe(true);
    expect(await count('custody.settlements')).toBe(ended.settled + ended.failed);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(ended.settled + ended.failed);
  });

  it('leaves outcomes alone that the backup already has without their records', async () => {
    await payIn();
    await accept(journal, true);
    await database.pool.query(`update journal.restored set sequence = 0, hash = decode($1, 'hex')`, [
      beforeFirst('auction').hash,
    ]);
    const again = await accept(journal, true);
    expect(again).toMatchObject({ accepted: true, lack: { settled: [], failed: [], unsaid: [] } });
    expect(await count('custody.settlements')).toBe(ended.settled + ended.failed);
  });
});

/** These cases share one database and leave nothing in it. */
describe('nothing is changed', () => {
  beforeAll(begin);
  afterAll(() => database.drop());
  afterEach(async () => {
    expect(await count('custody.settlements')).toBe(0);
    expect(await count('journal.restored where sequence > 0')).toBe(0);
  });

  it('if a payment since the backup is not entered', async () => {
    const refused = await accept(journal, true);
    expect(refused?.accepted).toBe(false);
    expect(textOf(refused)).toMatch(
      /[0-9a-f-]{36} lacks \d+ atoms of collateral on venue_a.*npm run ledger -- open/s,
    );
  });

  it('if a record does not name the route of a settlement', async () => {
    await payIn();
    const refused = await accept(drawn, true);
    expect(refused?.objections).toHaveLength(ended.settled);
    expect(textOf(refused)).toMatch(/award \S+ of auction \S+ was settled, .* by which route.*REFUSED/s);
  });

  it('if the journals break the rules, or are damaged', async () => {
    await payIn();
    const forged = new WrittenJournal(journal.shard);
    for (const { kind, payload } of journal.records) {
      if (kind === 'event') forged.write(decodeEvent(payload.replace('"price_atoms":5', '"price_atoms":6')));
    }
    expect(textOf(await accept(forged, true))).toMatch(/shard 0: record \d+ breaks the rules.*REFUSED/s);
    await database.pool.query(
      `insert into journal.witness (family, shard, sequence, hash) values ('auction', 0, 3, decode($1, 'hex'))`,
      [beforeFirst('auction').hash],
    );
    expect(textOf(await accept(journal, true))).toContain(
      'shard 0: record 3 is not the one that this database has seen',
    );
    await database.pool.query('delete from journal.witness');
  });

  it('if it fails at the last moment: the ledger and the mark change together', async () => {
    await payIn();
    await database.pool.query('alter table journal.restored add constraint still check (sequence = 0)');
    await expect(accept(journal, true)).rejects.toMatchObject({ code: '23514' });
    await database.pool.query('alter table journal.restored drop constraint still');
  });

  it('if a journal ends with records that no owner has sealed', async () => {
    await payIn();
    await database.pool.query(
      `insert into journal.sealed (family, shard, sequence) values ('auction', 0, 1)`,
    );
    expect(textOf(await accept(journal, true))).toMatch(
      /shard 0: record \d+ ends an append and has no seal.*REFUSED/s,
    );
    await database.pool.query('delete from journal.sealed');
  });

  it('if the ledger contradicts the journals', async () => {
    await payIn();
    await database.pool.query(
      `insert into custody.settlements (award_id, outcome, reason, recorded_at) values ($1, 'FAILED', 'x', now())`,
      [uuidNamed('unknown award')],
    );
    expect(textOf(await accept(journal, true))).toContain('is in the ledger, and no journal knows it');
    await database.pool.query(
      `alter table custody.settlements disable trigger user; delete from custody.settlements;
       alter table custody.settlements enable trigger user`,
    );
  });

  it('while owners write journals, or if nothing was restored', async () => {
    const lock = new JournalLock(database.url, clock);
    await lock.share();
    await expect(accept(journal, true)).rejects.toThrow('stop the cluster first');
    await lock.letGo();
    await database.pool.query('delete from journal.restored');
    expect(await accept(journal, true)).toBeUndefined();
  });
});
