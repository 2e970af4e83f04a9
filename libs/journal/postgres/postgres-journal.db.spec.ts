import { afterAll, beforeAll } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { describeJournal } from '#libs/testing/contracts/journal.contract.js';
import type { Tampering } from '#libs/testing/contracts/journal-subject.js';
import { describeSnapshotStore } from '#libs/testing/contracts/snapshot-store.contract.js';
import { openProxy } from '#libs/testing/network/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { journalMigrations } from '../migrations/list.js';
import { PostgresJournal } from './postgres-journal.js';
import { PostgresJournalReader } from './postgres-reader.js';
import { PostgresSnapshotStore } from './postgres-snapshots.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
});

afterAll(() => database.drop());

async function tamper(shard: number, sequence: number, tampering: Tampering): Promise<void> {
  const at = [shard, sequence];
  if (tampering === 'removed') {
    await database.pool.query(
      `delete from journal.records where family = 'auction' and shard = $1 and sequence = $2`,
      at,
    );
    return;
  }
  for (const [column, value] of Object.entries(tampering)) {
    const stored = column === 'hash' ? Buffer.from(String(value), 'hex') : value;
    // The sequence comes last, because it finds the record.
    await database.pool.query(
      `update journal.records set ${column} = $3 where family = 'auction' and shard = $1 and sequence = $2`,
      [...at, stored],
    );
  }
}

async function giveToOther(shard: number): Promise<void> {
  await database.pool.query(
    `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash)
     select 'execution', shard, sequence, epoch, kind, payload, hash from journal.records where family = 'auction' and shard = $1`,
    [shard],
  );
  await database.pool.query(
    `insert into journal.shards select 'execution', shard, epoch from journal.shards where family = 'auction' and shard = $1`,
    [shard],
  );
}

describeJournal('the journal in PostgreSQL', async () => {
  const { hostname, port } = new URL(database.url);
  const proxy = await openProxy({ target: { host: hostname, port: Number(port) } });
  const through = new URL(database.url);
  through.host = `127.0.0.1:${proxy.port}`;
  return {
    journalOf: (opener) =>
      new PostgresJournal({
        family: 'auction',
        url: through.href,
        clock: new SystemClock(),
        opener,
        appendWithinMillis: 400,
        settleWithinMillis: 1_000,
      }),
    reader: new PostgresJournalReader(database.pool, 'auction'),
    faults: {
      loseAnswer: () => {
        proxy.blackhole('to-client');
        proxy.heal();
      },
      loseAppend: () => {
        proxy.blackhole('to-server');
        proxy.heal();
      },
      isolate: () => {
        proxy.blackhole('to-client');
        proxy.refuse();
      },
      cut: () => proxy.cut(),
      heal: () => proxy.heal(),
    },
    tamper,
    other: {
      journal: new PostgresJournal({
        family: 'execution',
        url: database.url,
        clock: new SystemClock(),
        opener: 'ada',
      }),
      reader: new PostgresJournalReader(database.pool, 'execution'),
    },
    giveToOther,
    dispose: () => proxy.close(),
  };
});

describeSnapshotStore('snapshots in PostgreSQL', () =>
  Promise.resolve({
    store: new PostgresSnapshotStore(database.pool, 'auction'),
    other: new PostgresSnapshotStore(database.pool, 'execution'),
    journal: new PostgresJournal({
      family: 'auction',
      url: database.url,
      clock: new SystemClock(),
      opener: 'ada',
    }),
    reader: new PostgresJournalReader(database.pool, 'auction'),
  }),
);
